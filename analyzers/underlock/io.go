package underlock

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/check"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/lockset"
)

// outside lists what waits for something outside of the program, as
// pkg.Func or pkg.Type.Method, interfaces like others.
var outside = []string{
	"time.Sleep",
	"net.Dial", "net.DialTimeout", "net.DialTCP", "net.Dialer.Dial", "net.Dialer.DialContext", "net.LookupHost",
	"net.LookupIP",
	"net.Conn.Read", "net.Conn.Write", "net.TCPConn.Read", "net.TCPConn.Write", "net.UnixConn.Read", "net.UnixConn.Write",
	"net.Listener.Accept", "net.TCPListener.Accept", "net.Buffers.WriteTo", "crypto/tls.Conn.Handshake",
	"crypto/tls.Conn.Read", "crypto/tls.Conn.Write",
	"net/http.Get", "net/http.Post", "net/http.PostForm", "net/http.Head", "net/http.Client.Do", "net/http.Client.Get",
	"net/http.Client.Post",
	"net/http.RoundTripper.RoundTrip", "net/http.Server.Shutdown",
	"os/exec.Cmd.Run", "os/exec.Cmd.Wait", "os/exec.Cmd.Output", "os/exec.Cmd.CombinedOutput",
	"database/sql.DB.Query", "database/sql.DB.QueryContext", "database/sql.DB.Exec", "database/sql.DB.ExecContext",
	"database/sql.DB.Ping",
	"database/sql.Tx.Query", "database/sql.Tx.Exec", "database/sql.Tx.Commit",
	"os.ReadFile", "os.WriteFile", "os.File.Read", "os.File.ReadAt", "os.File.Write", "os.File.WriteAt",
	"os.File.WriteString", "os.File.Sync",
}

// waits returns the name of what the call waits for outside of the program.
func waits(call *ssa.CallCommon) (string, bool) {
	var fn *types.Func
	if call.IsInvoke() {
		fn = call.Method
	} else if callee := call.StaticCallee(); callee != nil {
		fn, _ = callee.Object().(*types.Func)
	}
	if fn == nil || fn.Pkg() == nil {
		return "", false
	}
	name := fn.Name()
	if recv := fn.Signature().Recv(); recv != nil {
		t := types.Unalias(recv.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		named, ok := t.(*types.Named)
		if !ok {
			return "", false
		}
		name = named.Obj().Name() + "." + name
	}
	name = fn.Pkg().Path() + "." + name
	return name, slices.Contains(outside, name)
}

// hints tells of waiting for the outside under a lock, once for each function
// and lock. It hangs nobody for good, and the lock may be there to order what
// is written.
func (c *checker) hints() {
	for _, fn := range c.list.Prog.Funcs {
		if c.list.Prog.InTest(fn) || c.list.Graph.Roles(fn).OnlyInit() {
			continue
		}
		told := map[string]bool{}
		c.list.Locks.WalkOwn(fn, func(instr ssa.Instruction, s *lockset.State) {
			call, ok := instr.(*ssa.Call)
			if !ok {
				return
			}
			what, ok := waits(call.Common())
			if !ok {
				return
			}
			for _, h := range s.Held() {
				if h.Since != nil && !told[h.Path.String()] {
					told[h.Path.String()] = true
					c.hint(fn, call, what, h)
				}
			}
		})
	}
}

func (c *checker) hint(fn *ssa.Function, call *ssa.Call, what string, h lockset.Held) {
	prog := c.list.Prog
	lock := check.Lock(prog, fn, h.Class, h.Path.String())
	side := check.Side(prog, fn, call, finding.Call, what)
	side.Locks = []string{h.String()}
	f := &finding.Finding{
		Level: finding.Hint,
		Title: fmt.Sprintf("%s is called under %s", what, check.ShortName(lock)),
		Message: fmt.Sprintf("Whoever needs %s waits for as long as that takes. It is fine where the lock orders just this.",
			h.Path),
		Variable: lock,
		Accesses: []finding.Access{side, check.SideAt(prog, fn, h.Since.Pos(), check.LockMode(h.Read), h.Path.String())},
	}
	c.reporter.ReportAt(f, call.Pos(), check.Note{Pos: h.Since.Pos(), Text: h.Path.String() + " is locked here"})
}
