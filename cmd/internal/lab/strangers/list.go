package strangers

// strangers are popular, of many kinds, and tested in seconds without network
// or services. None of them is in another list of this repository: nothing was
// tuned on them. Among them are old ones (no go.mod, go 1.12) and new ones, and
// such as use generics, iterators, testing/synctest, cgo, go:embed, vendor
// folders and nested modules.
var strangers = []stranger{
	// Caches.
	{path: "github.com/patrickmn/go-cache", version: "v2.1.0+incompatible"}, // no go.mod
	{path: "github.com/jellydator/ttlcache/v3", version: "v3.4.1"},
	{path: "github.com/bluele/gcache", version: "v0.0.2"},
	{path: "github.com/muesli/cache2go", version: "v0.0.0-20221011235721-518229cd8021"},

	// Queues and other data structures.
	{
		path:    "github.com/Workiva/go-datastructures",
		version: "v1.1.7",
		packages: []string{
			"./augmentedtree", "./batcher", "./btree/palm", "./cache", "./futures", "./queue", "./slice/...", "./threadsafe/...",
			"./trie/ctrie",
		},
		why: "the packages that start goroutines, and some of the others",
	},
	{path: "github.com/eapache/channels", version: "v1.1.0"},          // no go.mod
	{path: "github.com/gammazero/deque", version: "v1.2.3"},           // iterators
	{path: "github.com/orcaman/concurrent-map/v2", version: "v2.0.1"}, // generics
	{path: "github.com/bits-and-blooms/bloom/v3", version: "v3.7.1"},
	{path: "github.com/samber/lo", version: "v1.53.0"},
	{path: "github.com/bytedance/gopkg", version: "v0.1.4", packages: []string{"./collection/zset", "./util/gopool/..."},
		why: "a collection and the pool of goroutines; the tests of the others run for a minute"},

	// Schedulers, clocks, limiters.
	{path: "github.com/reugn/go-quartz", version: "v0.15.2"},
	{path: "github.com/jonboulle/clockwork", version: "v0.5.0"},
	{path: "github.com/benbjohnson/clock", version: "v1.3.5"},
	{path: "github.com/sethvargo/go-limiter", version: "v0.7.1"},

	// Retries and circuit breakers.
	{path: "github.com/sony/gobreaker/v2", version: "v2.4.0"},
	{path: "github.com/eapache/go-resiliency", version: "v1.7.0"},
	{
		path:     "github.com/avast/retry-go/v4",
		version:  "v4.7.0",
		packages: []string{"."},
		why:      "without examples, which wait for long",
	},

	// Worker pools.
	{path: "github.com/alitto/pond/v2", version: "v2.7.1"},
	{path: "github.com/gammazero/workerpool", version: "v1.3.0"}, // testing/synctest
	{path: "github.com/sourcegraph/conc", version: "v0.3.0"},
	{path: "github.com/panjf2000/ants/v2", version: "v2.12.1",
		flags: []string{
			"-run=^Test(LoopQueue|New|MaxBlocking|MultiPool|Nonblocking|PanicHandler|PoolTune|Reboot|Rotated|WorkerStack)",
		},
		why: "the tests that -run names; all of them run for two minutes"},

	// Events, messages, connections.
	{path: "github.com/asaskevich/EventBus", version: "v0.0.0-20200907212545-49d423059eef"}, // no go.mod
	{path: "github.com/cskr/pubsub", version: "v1.0.2"},                                     // go 1.12
	{
		path:     "github.com/ThreeDotsLabs/watermill",
		version:  "v1.5.1",
		packages: []string{"./components/...", "./message/...", "./pubsub/sync"},
		why:      "the packages beside the root and gochannel, whose tests run for a minute",
	},
	{path: "github.com/dustin/go-broadcast", version: "v0.0.0-20171205050544-f664265f5a66"}, // no go.mod
	{path: "github.com/gobwas/ws", version: "v1.5.0"},                                       // testing/synctest

	// Logs and metrics.
	{path: "github.com/rs/zerolog", version: "v1.35.1"},
	{path: "github.com/hashicorp/go-hclog", version: "v1.6.3"},
	{path: "gopkg.in/natefinch/lumberjack.v2", version: "v2.2.1"},
	{
		path:    "github.com/VictoriaMetrics/metrics",
		version: "v1.35.1",
		vendor:  true,
		why:     "what it imports lies in its vendor folder",
	},

	// Programs' frames: state machines, injection, stores.
	{path: "github.com/looplab/fsm", version: "v1.0.3", flags: []string{"-skip=^TestContextInCallbacks$"},
		why: "without one test that waits for ever if its context is cancelled early"},
	{path: "github.com/qmuntal/stateless", version: "v1.7.2"},
	{path: "github.com/samber/do/v2", version: "v2.0.0"},
	{path: "github.com/oklog/run", version: "v1.2.0"},
	{path: "github.com/thejerf/suture/v4", version: "v4.0.6"},
	{path: "gopkg.in/tomb.v2", version: "v2.0.0-20161208151619-d5d1b5820637"}, // no go.mod
	{
		path:    "github.com/tidwall/buntdb",
		version: "v1.3.0",
		flags:   []string{"-skip=^TestOnExpiredSync$"},
		why:     "without one test that fails after its end on a busy machine",
	},

	// Terminals, pages, pictures, and others.
	{path: "github.com/charmbracelet/bubbletea", version: "v1.3.10"},
	{path: "github.com/vbauerster/mpb/v8", version: "v8.9.3"},
	{path: "github.com/flosch/pongo2/v6", version: "v6.0.0"},
	{path: "github.com/disintegration/imaging", version: "v1.6.2"},
	{path: "github.com/mattn/go-pointer", version: "v0.0.1"}, // cgo, no tests
	{path: "github.com/gorilla/mux", version: "v1.8.1"},

	// Such as take long.
	{path: "github.com/lxzan/gws", version: "v1.8.9", // go:embed
		flags: []string{
			"-run=^Test(Accept|ClientHandshake|Concurrent|Conn|Default|Fail|Map|New|NoDelay|" +
				"RQueue|Read|Segments|Server|TaskQueue|Write)",
		},
		why: "the tests that -run names; those of buffers of many sizes run for long"},
	{
		path:     "go.opentelemetry.io/otel",
		version:  "v1.47.0",
		nested:   map[string]string{"log": "v1.47.0", "metric": "v1.47.0", "trace": "v1.47.0"},
		packages: []string{".", "./attribute/...", "./baggage/...", "./internal/...", "./propagation/..."},
		why:      "the packages of the root module, with three nested modules at their places",
	},
}
