package callgraph

import "golang.org/x/tools/go/ssa"

// stdUse is what functions of other people's packages do with functions
// handed to them: a table, by package and then by name, where "*" stands for
// the whole package. What is not here escapes.
func stdUse(fn *ssa.Function) (use, bool) {
	if fn.Pkg == nil && fn.Object() == nil {
		return use{}, false
	}
	pkg := fn.Package()
	path := ""
	if pkg != nil {
		path = pkg.Pkg.Path()
	} else if obj := fn.Object(); obj.Pkg() != nil {
		path = obj.Pkg().Path()
	}
	table := stdTable[path]
	how, ok := table[fn.Name()]
	if !ok {
		how, ok = table["*"]
	}
	return use{called: how == "call", started: how == "go"}, ok
}

var stdTable = map[string]map[string]string{
	"sort":                       {"*": "call"},
	"slices":                     {"*": "call"},
	"maps":                       {"*": "call"},
	"strings":                    {"*": "call"},
	"bytes":                      {"*": "call"},
	"path/filepath":              {"Walk": "call", "WalkDir": "call"},
	"io/fs":                      {"WalkDir": "call"},
	"sync":                       {"Do": "call", "Range": "call", "Go": "go"},
	"time":                       {"AfterFunc": "go"},
	"context":                    {"AfterFunc": "go"},
	"runtime":                    {"SetFinalizer": "go", "AddCleanup": "go"},
	"net/http":                   {"HandleFunc": "go"},
	"golang.org/x/sync/errgroup": {"Go": "go", "TryGo": "go"},
}
