package main

// fork starts the workers of a block and waits for them. The template has the
// parts «w0» … «w3», bodies of workers that know their number as i (where
// there are fewer, the last ones are empty), and «each», the body for a loop
// over i; «n» is how many there are. What follows the template comes after
// the join.
type fork struct {
	name string
	text string
	loop bool // has «each», not «w0» …
}

var forks = []fork{
	{
		name: "WaitGroup", text: "var wg$ sync.WaitGroup\nwg$.Add(«n»)\n«workers:go func(i int) {\ndefer wg$.Done()\n%}(#)\n»«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "WaitGroup in a loop", loop: true, text: "var wg$ sync.WaitGroup\nfor i := range «n» {\nwg$.Add(1)\ngo func() {\n«each»wg$.Done()\n}()\n}\n«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "wg.Go", text: "var wg$ sync.WaitGroup\n«workers:wg$.Go(func() {\ni := #\n_ = i\n%})\n»«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "wg.Go in a loop", loop: true, text: "wg$ := new(sync.WaitGroup)\nfor i := 0; i < «n»; i++ {\nwg$.Go(func() {\n«each»})\n}\n«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "unbuffered channel", text: "done$ := make(chan int)\n«workers:go func(i int) {\n%done$ <- i\n}(#)\n»«!no join¦for range «n» {\n<-done$\n}¦defer func() {\nfor range «n» {\n<-done$\n}\n}()»\n",
	},
	{
		name: "buffered channel", loop: true, text: "done$ := make(chan bool, «n»)\nfor i := range «n» {\ngo func() {\ndefer func() { done$ <- true }()\n«each»}()\n}\n«!no join¦for range «n» {\n<-done$\n}¦defer func() {\nfor range «n» {\n<-done$\n}\n}()»\n",
	},
	{
		name: "closed channels", text: "var ends$ [«n»]chan struct{}\nfor i := range ends$ {\nends$[i] = make(chan struct{})\n}\n«workers:go func(i int) {\ndefer close(ends$[i])\n%}(#)\n»«!no join¦for _, e := range ends$ {\n<-e\n}¦defer func() {\nfor _, e := range ends$ {\n<-e\n}\n}()»\n",
	},
	{
		name: "group of errors", text: "type group$ struct { wg sync.WaitGroup; once sync.Once; err error }\nstart$ := func(g *group$, f func() error) {\ng.wg.Add(1)\ngo func() {\ndefer g.wg.Done()\nif err := f(); err != nil {\ng.once.Do(func() { g.err = err })\n}\n}()\n}\ng$ := new(group$)\n«workers:start$(g$, func() error {\ni := #\n_ = i\n%return nil\n})\n»«!no join¦g$.wg.Wait()¦defer g$.wg.Wait()»\n",
	},
	{
		name: "results", text: "results$ := make(chan error)\n«workers:go func(i int) {\nresults$ <- func() (err error) {\n%return nil\n}()\n}(#)\n»«!no join¦for range «n» {\nif err := <-results$; err != nil {\nt.Error(err)\n}\n}¦defer func() {\nfor range «n» {\n<-results$\n}\n}()»\n",
	},
	{
		name: "counted down by an atomic", text: "var left$ atomic.Int32\nleft$.Store(«n»)\n«workers:go func(i int) {\n%left$.Add(-1)\n}(#)\n»«!no join¦for left$.Load() > 0 {\npause()\n}¦defer func() {\nfor left$.Load() > 0 {\npause()\n}\n}()»\n",
	},
	{
		name: "counted down under a Cond", loop: true, text: "var mx$ sync.Mutex\ncond$ := sync.NewCond(&mx$)\nleft$ := «n»\nfor i := range «n» {\ngo func() {\n«each»mx$.Lock()\nleft$--\nmx$.Unlock()\ncond$.Broadcast()\n}()\n}\nawait$ := func() {\nmx$.Lock()\nfor left$ > 0 {\ncond$.Wait()\n}\nmx$.Unlock()\n}\n«!no join¦await$()¦defer await$()»\n",
	},
	{
		name: "parallel subtests", text: "t.Run(\"group\", func(t *testing.T) {\n«workers:t.Run(\"w#\", func(t *testing.T) {\nt.Parallel()\ni := #\n_ = i\n%})\n»})\n",
	},
	{
		name: "contexts", text: "var ctxs$ []context.Context\n«workers:{\nctx, cancel := context.WithCancel(context.Background())\nctxs$ = append(ctxs$, ctx)\ngo func(i int) {\ndefer cancel()\n%}(#)\n}\n»«!no join¦for _, ctx := range ctxs$ {\n<-ctx.Done()\n}¦defer func() {\nfor _, ctx := range ctxs$ {\n<-ctx.Done()\n}\n}()»\n",
	},
	{
		name: "AfterFunc", text: "fired$ := make(chan int, 1)\n«workers:time.AfterFunc(«#1-200»*time.Microsecond, func() {\ni := #\n_ = i\n%fired$ <- i\n})\n»«!no join¦for range «n» {\n<-fired$\n}¦defer func() {\nfor range «n» {\n<-fired$\n}\n}()»\n",
	},
	{
		name: "a tree of goroutines", text: "tree$ := make(chan bool)\nwork$ := []func(i int){\n«workers:func(i int) {\n%},\n»}\nvar grow$ func(i int, up chan bool)\ngrow$ = func(i int, up chan bool) {\nbelow := make(chan bool)\nif i+1 < len(work$) {\ngo grow$(i+1, below)\n} else {\nclose(below)\n}\nwork$[i](i)\n<-below\nclose(up)\n}\ngo grow$(0, tree$)\n«!no join¦<-tree$¦defer func() { <-tree$ }()»\n",
	},
	{
		name: "recovered panics", text: "var wg$ sync.WaitGroup\nwg$.Add(«n»)\n«workers:go func(i int) {\ndefer wg$.Done()\ndefer func() {\nif r := recover(); r != i {\nt.Errorf(\"recovered %%v\", r)\n}\n}()\n%panic(i)\n}(#)\n»«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "Goexit", text: "over$ := make(chan int)\n«workers:go func(i int) {\ndefer func() { over$ <- i }()\n%runtime.Goexit()\n}(#)\n»«!no join¦for range «n» {\n<-over$\n}¦defer func() {\nfor range «n» {\n<-over$\n}\n}()»\n",
	},
	{
		name: "locked threads", text: "var wg$ sync.WaitGroup\n«workers:wg$.Go(func() {\nruntime.LockOSThread()\ndefer runtime.UnlockOSThread()\ni := #\n_ = i\n%})\n»«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "pool of workers", loop: true, text: "jobs$ := make(chan int«?¦, 3»)\nvar wg$ sync.WaitGroup\nfor range 2 {\nwg$.Add(1)\ngo func() {\ndefer wg$.Done()\nfor i := range jobs$ {\n«each»}\n}()\n}\nfor i := range «n» {\njobs$ <- i\n}\nclose(jobs$)\n«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "functions in a channel", text: "todo$ := make(chan func(), 4)\n«workers:todo$ <- func() {\ni := #\n_ = i\n%}\n»close(todo$)\nvar wg$ sync.WaitGroup\nfor range «n» {\nwg$.Go(func() {\nfor f := range todo$ {\nf()\n}\n})\n}\n«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "waiting in a select", text: "ends$, stop$ := make(chan int), make(chan int)\n«workers:go func(i int) {\n%select {\ncase ends$ <- i:\ncase <-stop$:\n}\n}(#)\n»wait$ := func() {\nfor n := 0; n < «n»; {\nselect {\ncase <-ends$:\nn++\ncase <-time.After(time.Minute):\nt.Error(\"no end\")\n}\n}\n}\n«!no join¦wait$()¦defer wait$()»\n",
	},
	{
		name: "handed over by a lock", text: "var turns$ [«n»]sync.Mutex\n«workers:turns$[#].Lock()\ngo func(i int) {\n%turns$[i].Unlock()\n}(#)\n»join$ := func() {\nfor i := range turns$ {\nturns$[i].Lock()\n}\n}\n«!no join¦join$()¦defer join$()»\n",
	},
	{
		name: "methods as goroutines", text: "var wg$ sync.WaitGroup\nwg$.Add(«n»)\n«workers:go runner$(func(i int) {\n%}).run(#, &wg$)\n»«!no join¦wg$.Wait()¦defer wg$.Wait()»\n===\ntype runner$ func(i int)\nfunc (r runner$) run(i int, wg *sync.WaitGroup) {\ndefer wg.Done()\nr(i)\n}\n",
	},
	{
		name: "start gate", loop: true, text: "gate$ := make(chan struct{})\nvar wg$ sync.WaitGroup\nfor i := range «n» {\nwg$.Go(func() {\n<-gate$\n«each»})\n}\nclose(gate$)\n«!no join¦wg$.Wait()¦defer wg$.Wait()»\n",
	},
	{
		name: "waited for by several", text: "var wg$, waiters$ sync.WaitGroup\nwg$.Add(«n»)\n«workers:go func(i int) {\ndefer wg$.Done()\n%}(#)\n»for range 2 {\nwaiters$.Go(wg$.Wait)\n}\n«!no join¦waiters$.Wait()¦defer waiters$.Wait()»\n",
	},
}
