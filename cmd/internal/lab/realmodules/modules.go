package realmodules

// module is a module under test, and the part of its tests that is run.
type module struct {
	path, version string
	packages      []string
	flags         []string // of the test binaries
	part          string   // why it is a part, if it is one
}

var everything = []string{"./..."}

// modules are of different styles: servers, stores, data structures, clients,
// timers, code that counts on time, code full of locks and code with none.
var modules = []module{
	{path: "github.com/hashicorp/golang-lru/v2", version: "v2.0.7", packages: everything},
	{path: "github.com/google/btree", version: "v1.1.3", packages: everything},
	{path: "github.com/sirupsen/logrus", version: "v1.9.3", packages: everything},
	{path: "github.com/gorilla/websocket", version: "v1.5.3", packages: everything},
	{
		path:     "github.com/redis/go-redis/v9",
		version:  "v9.7.0",
		packages: []string{"./internal/..."},
		part:     "the internal packages; the others need a server",
	},
	{
		path:     "github.com/prometheus/client_golang",
		version:  "v1.25.0",
		packages: []string{"./prometheus/..."},
		part:     "the packages below prometheus; those below api are clients of a server",
	},
	{
		path:     "go.etcd.io/bbolt",
		version:  "v1.3.11",
		packages: []string{".", "./internal/..."},
		flags:    []string{"-test.short"},
		part:     "-short, without the commands",
	},
	{
		path:     "github.com/hashicorp/raft",
		version:  "v1.7.1",
		packages: []string{"."},
		flags: []string{
			"-test.short",
			"-test.run=^Test([^R]|Raft_(AfterShutdown|ApplyConcurrent|JoinNode|LeaderFail|SingleNode|StartStop|TripleNode)$)",
		},
		part: "-short, and of the tests of whole clusters seven; all of them run for minutes",
	},
	{
		path:     "github.com/dgraph-io/badger/v4",
		version:  "v4.9.6",
		packages: []string{"./skl", "./table", "./trie", "./y"},
		part:     "the packages below the data base, whose own tests run for an hour",
	},
	{
		path:    "google.golang.org/grpc",
		version: "v1.68.0",
		packages: []string{
			"./internal/balancergroup", "./internal/binarylog", "./internal/buffer", "./internal/cache", "./internal/channelz",
			"./internal/credentials", "./internal/grpcsync", "./internal/idle", "./internal/metadata",
			"./internal/profiling/...", "./internal/serviceconfig", "./internal/status", "./internal/transport",
			"./internal/wrr",
		},
		part: "fourteen internal packages; the others run for long or need the network",
	},
	{
		path:     "github.com/nats-io/nats-server/v2",
		version:  "v2.10.22",
		packages: []string{"./server"},
		flags: []string{
			"-test.run=^Test(Account|Client|Closed|ConfigCheck|IPQueue|MemStore|NKey|Nkey|Parse|Ping|RateCounter|" +
				"Ring|Split|Subject|Sublist|URL|Util|WSHandshake|WSRead)",
		},
		part: "the tests that -run names; all of them run for an hour",
	},
	{path: "github.com/robfig/cron/v3", version: "v3.0.1", packages: everything},
}
