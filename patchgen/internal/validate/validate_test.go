package validate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sourcegraph/go-diff/diff"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/session/sessiontest"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// golden lists what each golden patch of package patchgen claims: how, for which
// variable, by which lock.
var golden = map[string]string{
	"atomic_counter":              "atomic stats.hits",
	"atomic_fields":               "atomic stats.hits",
	"atomic_fields_old_go":        "atomic stats.hits",
	"atomic_fields_one":           "atomic stats.hits",
	"atomic_fields_pair":          "guarded stats.sum stats.mu raced",
	"atomic_limits":               "atomic reqLimit",
	"atomic_load_called":          "atomic Pool.size",
	"copy_after_func":             "unshared run/err",
	"copy_on_the_spot":            "unshared (*conn).write/err",
	"exchange_add":                "atomic pool.running",
	"exchange_add_function":       "atomic pool.free",
	"exchange_getter":             "atomic server.closed",
	"exchange_getter_enter":       "atomic server.closed",
	"exchange_getter_state":       "atomic machine.current",
	"guard_array_copied":          "guarded node.id node.mu",
	"guard_fetched":               "guarded node.count list.mu",
	"guard_fetched_read":          "guarded node.count list.mu",
	"guard_fetched_branch":        "guarded node.count list.mu",
	"guard_fetched_loop":          "guarded node.count list.mu",
	"guard_timer":                 "guarded transaction.retries transaction.mu",
	"guard_signalled_first":       "guarded hub.last hub.mu",
	"guard_signalled_behind":      "guarded part.sum part.mu",
	"atomic_semaphore":            "atomic pool.busy",
	"atomic_gauge":                "atomic serve.active",
	"atomic_started":              "atomic counter.n",
	"atomic_looked_at":            "atomic feed.last",
	"atomic_getter_logged":        "atomic counter.n",
	"mutex_size_and_loop":         "guarded spy.events spy.eventsMu raced",
	"mutex_add_store":             "guarded batch.n batch.nMu",
	"recheck_branch_returns":      "one-step cache.entries cache.mu",
	"recheck_found_nil":           "one-step cache.entries cache.mu",
	"recheck_getter":              "one-step cache.entries cache.mu",
	"recheck_getter_found":        "one-step cache.entries cache.mu",
	"recheck_getter_leaves":       "one-step cache.entries cache.mu",
	"recheck_getter_section":      "one-step cache.entries cache.mu",
	"atomic_computed_by_value":    "atomic breaker.next",
	"atomic_flag":                 "atomic worker.done",
	"atomic_flag_of_sender":       "atomic pipe.stopped",
	"atomic_functions":            "atomic item.expires",
	"atomic_old_go":               "atomic stats.hits",
	"guard_fields":                "guarded span.from span.mu raced",
	"mutex_fields":                "guarded span.from span.mu raced",
	"mutex_fields_count":          "guarded stats.hits stats.mu raced",
	"mutex_variables":             "guarded known knownMu raced",
	"mutex_package_literal":       "guarded noColor noColorMu",
	"unlock_around_metrics":       "released-first - set.mu",
	"release_send":                "released-first - queue.mu",
	"release_wait":                "released-first - pump.mu",
	"atomic_result":               "atomic keys",
	"atomic_result_counts":        "atomic limiter.used",
	"atomic_under_lock":           "atomic sample.count",
	"atomic_under_lock_read":      "atomic sample.count",
	"atomic_pointer":              "atomic worker.conf",
	"atomic_swap":                 "atomic worker.state",
	"guard_after_unlock":          "guarded clock.now clock.mu",
	"guard_all_locked":            "guarded account.sum account.mu",
	"guard_argument":              "guarded clock.now clock.mu",
	"guard_callback":              "guarded node.value node.mu",
	"guard_calls_outer":           "guarded window.n conn.mu",
	"guard_calls_stripes":         "guarded part.n table.locks",
	"guard_reentry":               "guarded table.size table.mu",
	"guard_struct_fields":         "guarded cache.stats cache.mu",
	"guard_twin":                  "guarded Quota.used Quota.mu",
	"guard_within":                "guarded log.buf log.mu within",
	"mutex_twin":                  "guarded Set.items Set.itemsMu",
	"mutex_held":                  "guarded wrapper.List wrapper.listMu within",
	"mutex_held_typed":            "guarded wrapper.List wrapper.listMu within",
	"mutex_sends":                 "guarded pool.waiting pool.waitingMu within",
	"mutex_within":                "guarded cache.order cache.orderMu within",
	"mutex_within_copied":         "guarded wrapper.List wrapper.listMu within",
	"guard_cancel":                "guarded machine.state machine.mu",
	"guard_called_back_not":       "guarded job.tries job.mu",
	"guard_behind_loop":           "guarded bus.subs bus.mu",
	"guard_beside":                "guarded stats.hits stats.mu",
	"guard_update_read":           "guarded box.next box.mu",
	"atomic_beside":               "guarded worker.done worker.mu raced",
	"atomic_beside_lost":          "guarded worker.done worker.mu raced",
	"atomic_beside_won":           "atomic worker.done raced",
	"guard_beside_bare":           "guarded cache.last cache.mu raced",
	"guard_beside_entry":          "guarded list.head list.mu raced",
	"guard_beside_read_side":      "guarded cache.last cache.mu raced",
	"guard_beside_waits":          "guarded cache.last cache.mu raced",
	"mutex_beside":                "guarded db.conn db.mu raced",
	"mutex_beside_address":        "guarded meter.sum meter.mu raced",
	"mutex_beside_append":         "guarded gauge.n gauge.mu raced",
	"mutex_beside_array":          "guarded gauge.n gauge.mu raced",
	"mutex_beside_atomic":         "guarded db.conn db.connMu raced",
	"mutex_beside_callee":         "guarded db.conn db.mu raced",
	"mutex_beside_cond":           "guarded gauge.n gauge.nMu raced",
	"mutex_beside_deferred":       "guarded part.n part.mu raced",
	"mutex_beside_fresh":          "guarded part.n part.nMu raced",
	"mutex_beside_generic":        "guarded stack.items stack.mu raced",
	"mutex_beside_global":         "guarded hits hitsMu raced",
	"mutex_beside_held":           "guarded db.conn db.connMu raced",
	"mutex_beside_index":          "guarded gauge.n gauge.nMu raced",
	"mutex_beside_literal":        "guarded meter.sum meter.mu raced",
	"mutex_beside_lost":           "guarded server.started server.mu raced",
	"mutex_beside_map":            "guarded gauge.n gauge.mu raced",
	"mutex_beside_once":           "guarded part.n part.nMu raced",
	"mutex_beside_nested":         "guarded store.stats store.mu raced",
	"mutex_beside_read":           "guarded gauge.n gauge.nMu raced",
	"mutex_beside_semaphore":      "guarded part.n part.nMu raced",
	"mutex_beside_two_functions":  "guarded meter.sum meter.mu raced",
	"mutex_beside_two_objects":    "guarded part.n part.nMu raced",
	"mutex_beside_won":            "guarded server.started server.mu raced",
	"once_beside_inside":          "once pool.items pool.itemsOnce raced",
	"atomic_beside_callee":        "guarded worker.busy worker.mu raced",
	"guard_beside_other_lock":     "guarded pair.a pair.mu raced",
	"mutex_beside_channel_field":  "guarded hub.n hub.mu raced",
	"mutex_beside_deferred_waits": "guarded part.n part.nMu raced",
	"mutex_beside_literal_called": "guarded conn.ops conn.mu raced",
	"mutex_beside_literal_handed": "guarded conn.ops conn.opsMu raced",
	"mutex_beside_loop":           "guarded pump.state pump.mu raced",
	"mutex_beside_pointer_field":  "guarded cache.n cache.nMu raced",
	"mutex_beside_struct":         "guarded shape.n shape.mu raced",
	"mutex_beside_swap":           "guarded ring.n ring.mu raced",
	"mutex_beside_switch":         "guarded conn.ops conn.mu raced",
	"mutex_read_update":           "guarded ids.n ids.nMu",
	"mutex_update_read":           "guarded refs.n refs.nMu",
	"guard_check_then_act":        "guarded cursor.valid cursor.mu",
	"guard_closures":              "guarded box.items box.mu",
	"guard_comment":               "guarded stats.last stats.hitsMu",
	"guard_comment_words":         "guarded stats.last stats.mu",
	"guard_same_name":             "guarded counter.n counter.mu",
	"guard_throughout_locked":     "guarded quota.used quota.mu",
	"mutex_same_name":             "guarded last/n last/nMu",
	"guard_decided_by_other":      "guarded cursor.entry cursor.mu",
	"guard_decided_lift":          "guarded pool.n pool.mu",
	"guard_decided_same":          "guarded server.running server.mu",
	"guard_decided_to_the_end":    "guarded ready mu",
	"guard_deferred":              "guarded item.name item.mu",
	"guard_early_return":          "guarded conn.closed conn.mu",
	"guard_getter":                "guarded counter.n counter.mu",
	"guard_handed_on_plain":       "guarded bar.n bar.mu",
	"guard_held_by_caller":        "guarded list.items list.mu",
	"guard_local":                 "guarded sum/total sum/mu",
	"guard_loops":                 "guarded pool.left pool.mu",
	"guard_map":                   "guarded reg.m reg.mu",
	"guard_outer":                 "guarded conn.last hub.mu",
	"guard_other_object":          "guarded resource.status pool.mu left=1",
	"guard_other_system":          "guarded machine.state machine.mu",
	"guard_select":                "guarded hub.quit hub.mu",
	"guard_swapped":               "guarded account.sum account.mu",
	"guard_snapshot":              "guarded logger.hooks logger.mu",
	"guard_switch":                "guarded machine.state machine.mu",
	"guard_upgrade":               "guarded stat.hits stat.mu",
	"guard_upgrade_callee":        "guarded cache.hits cache.mu",
	"mutex_another_object":        "guarded conn.last conn.lastMu",
	"mutex_captured":              "guarded all/first all/firstMu",
	"mutex_computed_clock":        "guarded breaker.next breaker.nextMu",
	"mutex_decided_far":           "guarded meter.n meter.nMu",
	"mutex_emptied":               "guarded spy.events spy.eventsMu",
	"mutex_number_printed":        "guarded proxy.count proxy.countMu",
	"mutex_generic":               "guarded stack.items stack.itemsMu",
	"mutex_global":                "guarded seen seenMu",
	"mutex_init_apart":            "guarded group.first group.firstMu",
	"mutex_positional":            "guarded gauge.peak gauge.peakMu",
	"once_positional":             "once conf.m conf.mOnce",
	"mutex_lazy":                  "guarded client.conn client.connMu",
	"mutex_other_build":           "guarded counter.n counter.nMu",
	"mutex_nested":                "guarded tx.stats tx.statsMu",
	"mutex_test_and_use":          "guarded runner.running runner.runningMu",
	"once_field":                  "once Client.HTTPClient Client.httpClientOnce",
	"once_global":                 "once host hostOnce",
	"reorder_literal":             "published server.done",
	"reorder_started":             "published job.stop",
	"reorder_starter":             "published server.name",
	"unlock_early":                "released - pool.mu",
	"unlock_two":                  "released - table.mu",
	"unlock_places":               "released - table.mu",
	"unlock_end":                  "released - gate.mu",
	"unlock_case":                 "released - task.mu",
	"guard_array":                 "guarded id mu",
	"unlock_locker":               "released - queue.cond.L",
	"relock_getter":               "locked-once - suite.mu",
	"relock_twin":                 "locked-once - bank.mu",
	"relock_upgrade":              "locked-once - cache.mu",
	"relock_function":             "locked-once - mu",
	"relock_places":               "locked-once - suite.mu",
	"exchange_leave":              "atomic server.closed",
	"exchange_enter":              "atomic server.state",
	"exchange_function":           "atomic conn.done",
	"recheck_found":               "one-step agg.m agg.mu",
	"recheck_read":                "one-step cache.m cache.mu",
	"recheck_plain":               "one-step pool.done pool.mu",
	"join_adjacent":               "one-step shard.m shard.mu",
	"join_computes":               "one-step shard.m shard.mu",
	"join_update":                 "one-step account.balance account.mu",
	"relock_within":               "locked-once - store.mu",
	"relock_plain":                "locked-once - box.mu",
	"hand_down_id":                "locked-once - client.mu",
	"keep_wakeup_loop":            "keeps-wake-up batch.wake",
	"nil_channel_receive":         "nil-tested cache.done",
	"nil_channel_send":            "nil-tested conn.quit",
	"closed_flag_found":           "sent-open call.result call.mu flag=closed",
	"relock_stack":                "locked-once - suite.mu",
	"relock_stack_and_source":     "locked-once - suite.mu",
	"defer_unlock_callback":       "released-anyway - balancer.mu",
	"defer_unlock_ways":           "released-anyway - ring.mu",
	"drain_early":                 "drained parse/tokens",
	"hand_context_loop":           "stoppable -",
	"swap_waiting":                "ordered - client.streams client.send",
	"swap_deferred":               "ordered - shelf.mu box.mu",
	"count_method":                "counted -",
	"count_literal":               "counted -",
	"count_behind":                "counted -",
	"count_places":                "counted -",
	"buffer_timeout":              "unblocked first/ch",
	"buffer_var":                  "unblocked first/ch",
	"buffer_two":                  "unblocked run/errs",
	"stop_loop":                   "unblocked find/ch",
	"signal_missing":              "unblocked each/jobs",
	"signal_early":                "unblocked each/jobs",
	"buffer_each":                 "unblocked parallel/errc",
	"extend_callee":               "extended - pool.mu",
	"extend_return":               "extended - shard.mu",
	"extend_race":                 "extended - shard.mu",
	"guard_copy":                  "guarded limiter.burst limiter.mu",
	"guard_elements":              "guarded queue.items queue.mu",
	"guard_related":               "guarded timer.fn clock.mu",
	"guard_shared_variable":       "guarded total totalMu",
	"guard_sibling":               "guarded spinner.color spinner.mu",
	"guard_single_variable":       "guarded total recorder.mu",
	"guard_struct":                "guarded cache.metrics cache.mu",
	"guard_throughout":            "guarded pool.n pool.mu",
	"guard_upgrade_behind":        "guarded cache.hits cache.mu",
	"mutex_heap":                  "guarded item.index item.indexMu",
	"relock_itself":               "locked-once - store.mu",
	"copy_round":                  "unshared all/i",
	"copy_error":                  "unshared run/err",
	"copy_several":                "unshared run/err",
	"copy_loop":                   "unshared all/err",
	"copy_loop_starter":           "unshared all/err",
	"reorder_behind":              "published worker.ctx",
	"reorder_behind_argument":     "published worker.name",
	"reorder_behind_literal":      "published listener.ready",
	"guard_returned_after_unlock": "guarded table.epoch table.mu",
	"buffer_count":                "unblocked gather/errc",
	"buffer_either":               "unblocked fetch/found",
	"mutex_test_file":             "guarded client.conn client.connMu",
	"once_one_line":               "once client.conn client.connOnce",
	"cancel_field":                "stoppable -",
	"cancel_error":                "stoppable -",
	"snapshot_list":               "released-first - set.mu",
	"snapshot_map":                "released-first - bus.mu",
	"cancel_stop":                 "stoppable -",
	"cancel_added":                "stoppable -",
	"cancel_defined":              "stoppable -",
	"cancel_ended":                "stoppable -",
	"cancel_greeting":             "stoppable -",
	"cancel_return":               "stoppable -",
	"sign_off_early":              "signs-off -",
	"broadcast_loop":              "wakes-all -",
	"close_once_select":           "closed-once server.done server.doneOnce",
	"atomic_test_sleeps":          "atomic TestCalled/called",
	"guard_double_checked":        "guarded cache.m cache.mu",
	"guard_test_between":          "guarded broker.subs broker.mu",
	"swap_fixed":                  "ordered - index.mu store.mu",
	"swap_third":                  "ordered - b a",
	"swap_several":                "ordered - meters.bm meters.am",
	"swap_start":                  "ordered - meters.bm meters.am",
	"signal_behind":               "unblocked sum/ch",
	"unlock_stuck":                "released - container.Mutex",
	"unlock_continue":             "released - node.mu",
	"unlock_break":                "released - node.mu",
	"unlock_waiter":               "released - node.mu",
	"atomic_max":                  "atomic meter.total",
	"broadcast_field":             "wakes-all -",
	"broadcast_value":             "wakes-all -",
	"buffer_result":               "unblocked do/done",
	"cancel_select":               "stoppable -",
	"closed_flag_there":           "sent-open sub.ch sub.mu flag=closed",
	"closed_flag_polls":           "sent-open hub.out hub.mu flag=closed",
	"close_once_global":           "closed-once quit quitOnce",
	"close_once_pointer":          "closed-once conn.done conn.doneOnce",
	"exchange_else":               "atomic gate.open",
	"extend_defer":                "extended - book.mu",
	"guard_before_lock":           "guarded table.rows table.mu",
	"guard_tested_by_callee":      "guarded circuit.open circuit.mu",
	"join_loop":                   "one-step cells.m cells.mu",
	"join_write":                  "one-step account.n account.mu",
	"once_pointer":                "once api.client api.clientOnce",
	"guard_entries":               "guarded bar.text bar.mu",
	"guard_entries_fresh":         "guarded bar.text bar.mu",
	"recheck_branch":              "one-step table.rows table.mu",
	"recheck_found_new":           "one-step all mu",
	"recheck_found_counts":        "one-step cache.m cache.mu",
	"recheck_branch_deferred":     "one-step circuits mu",
	"recheck_branch_nil":          "one-step lazy.index lazy.mu",
	"reorder_field":               "published server.limit",
	"reorder_later_calls":         "published server.name",
	"sign_off_panics":             "signs-off -",
	"stop_cleanup":                "unblocked first/res",
	"stop_field":                  "unblocked first/lines",
	"stop_timeout":                "unblocked squares/out",
	"swap_globals":                "ordered - agesMu namesMu",
	"swap_read":                   "ordered - stock.mu catalog.mu",
}

const goldens = "../../testdata/fix"

var kinds = map[string]validate.Kind{
	"guarded": validate.Guarded, "once": validate.Once, "published": validate.Published, "atomic": validate.Atomic,
	"released": validate.Released, "locked-once": validate.LockedOnce, "ordered": validate.Ordered,
	"counted": validate.Counted, "unblocked": validate.Unblocked,
	"one-step": validate.OneStep, "extended": validate.Extended, "unshared": validate.Unshared,
	"stoppable": validate.Stoppable, "signs-off": validate.SignsOff, "wakes-all": validate.WakesAll,
	"closed-once": validate.ClosedOnce, "released-first": validate.ReleasedFirst,
	"sent-open": validate.SentOpen, "keeps-wake-up": validate.KeepsWakeup, "nil-tested": validate.NilTested,
	"released-anyway": validate.ReleasedAnyway, "drained": validate.Drained, "left-open": validate.LeftOpen,
	"signal-closed": validate.SignalClosed,
}

// A kind without a promise would accept every patch.
func TestKindsPromise(t *testing.T) {
	for name, kind := range kinds {
		if kind.Promise() == "" {
			t.Errorf("the kind %s has no row in the table promises", name)
		}
	}
}

// claimOf reads "kind T.f T.mu", where pkg.v is T.f, v or f/local, in the
// package with the import path pkg. Kinds without a variable have - there,
// and an order has its second lock behind the first.
func claimOf(t *testing.T, pkg, text string) validate.Claim {
	t.Helper()
	words := strings.Fields(text)
	kind, ok := kinds[words[0]]
	if !ok || len(words) < 2 {
		t.Fatalf("no claim: %q, want a kind of the table kinds and a variable", text)
	}
	c := validate.Claim{Kind: kind, Variable: validate.Variable{Package: pkg, Name: words[1]}}
	if typ, name, ok := strings.Cut(words[1], "."); ok {
		c.Variable.Type, c.Variable.Name = typ, name
	}
	if fn, name, ok := strings.Cut(words[1], "/"); ok {
		c.Variable.Func, c.Variable.Name = pkg+"."+fn, name
	}
	if words[1] == "-" {
		c.Variable = validate.Variable{}
	}
	if kind == validate.Ordered {
		c.Second, words = pkg+"."+words[3], words[:3]
	}
	if len(words) > 2 && words[2] != raced {
		c.Lock = pkg + "." + words[2]
		if _, name, ok := strings.Cut(words[2], "/"); ok {
			c.Lock = name
		}
	}
	if len(words) > 3 && words[3] != raced {
		if name, ok := strings.CutPrefix(words[3], "tested="); ok {
			c.Tested = name
		} else if words[3] == "within" {
			c.Within = true
		} else if name, ok := strings.CutPrefix(words[3], "also="); ok {
			c.Also = []validate.Variable{{Package: pkg, Type: c.Variable.Type, Name: name}}
		} else if name, ok := strings.CutPrefix(words[3], "flag="); ok {
			c.Flag = name
		} else if _, err := fmt.Sscanf(words[3], "left=%d", &c.Left); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// module is the originals of all tests in one module, a folder each.
type module struct {
	root   string
	loaded []*packages.Package
}

func load(t *testing.T, files map[string][]byte) module {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = []byte("module example.com/m\n\ngo 1.26.0\n")
	for name, data := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	loaded, err := packages.Load(&packages.Config{Mode: session.LoadMode, Dir: root, Tests: true,
		Env: append(os.Environ(), "GOWORK=off", "GOFLAGS=")}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	sessiontest.ShareImports(loaded)
	return module{root, loaded}
}

// session opens the packages of one folder.
func (m module) session(t *testing.T, folder string) *session.Session {
	t.Helper()
	own := slices.DeleteFunc(slices.Clone(m.loaded), func(p *packages.Package) bool {
		return p.PkgPath != "example.com/m/"+folder && !strings.HasPrefix(p.PkgPath, "example.com/m/"+folder+"/")
	})
	s, err := session.New(m.root, own)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check judges a patch of one folder.
func check(t *testing.T, s *session.Session, folder, claim string, files map[string][]byte) []*validate.Refusal {
	t.Helper()
	inFolder := map[string][]byte{}
	for name, data := range files {
		inFolder[folder+"/"+name] = data
	}
	before, err := s.Original()
	if err != nil {
		t.Fatal(err)
	}
	after, err := s.With(inFolder)
	if err != nil {
		t.Fatal(err)
	}
	v, c := validate.New(facts.New(before)), claimOf(t, "example.com/m/"+folder, claim)
	if strings.HasSuffix(claim, raced) {
		c.Neighbors = v.Neighbors(c.Variable, marked(before, folder))
	}
	return v.Check(after, c)
}

// raced stands behind a claim where a run has shown the races that are marked in the original.
const raced = "raced"

// marked returns a race of the first and the last line of a folder that is marked with `// race: `.
func marked(before *session.Snapshot, folder string) []validate.Raced {
	var r validate.Raced
	p := before.Package("example.com/m/" + folder)
	for _, f := range p.Files {
		for _, group := range f.Comments {
			for _, c := range group.List {
				if at := p.Fset.Position(c.Pos()); strings.HasPrefix(c.Text, "// race: ") {
					place := []finding.Position{{File: folder + "/" + filepath.Base(at.Filename), Line: at.Line}}
					if r[1] = place; r[0] == nil {
						r[0] = place
					}
				}
			}
		}
	}
	return []validate.Raced{r}
}

// readGolden splits an archive into the originals and the patched files.
func readGolden(t *testing.T, name string) (originals, patched map[string][]byte) {
	t.Helper()
	ar, err := txtar.ParseFile(filepath.Join(goldens, name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	originals = map[string][]byte{}
	for _, f := range ar.Files {
		if f.Name != "diff" && f.Name != "draft" {
			originals[f.Name] = f.Data
		}
	}
	for _, f := range ar.Files {
		if f.Name == "diff" {
			patched = apply(t, originals, f.Data)
		}
	}
	return originals, patched
}

// apply applies a unified diff.
func apply(t *testing.T, originals map[string][]byte, text []byte) map[string][]byte {
	t.Helper()
	files, err := diff.ParseMultiFileDiff(text)
	if err != nil {
		t.Fatal(err)
	}
	patched := map[string][]byte{}
	for _, f := range files {
		name := strings.TrimPrefix(f.NewName, "b/")
		lines := strings.SplitAfter(string(originals[name]), "\n")
		var out strings.Builder
		next := 0
		for _, h := range f.Hunks {
			for ; next < int(h.OrigStartLine)-1; next++ {
				out.WriteString(lines[next])
			}
			for line := range strings.Lines(string(h.Body)) {
				if line[0] != '+' {
					next++
				}
				if line[0] != '-' {
					out.WriteString(line[1:])
				}
			}
		}
		patched[name] = []byte(out.String() + strings.Join(lines[next:], ""))
	}
	return patched
}

// doubted are the golden patches that are drafts, each with the obligation that is not shown.
var doubted = map[string]string{"mutex_beside": "waits", "mutex_beside_atomic": "waits"}

// TestGolden demands that every golden patch is accepted.
func TestGolden(t *testing.T) {
	files := map[string][]byte{}
	patches := map[string]map[string][]byte{}
	archives, err := filepath.Glob(filepath.Join(goldens, "*.txtar"))
	if err != nil || len(archives) == 0 {
		t.Fatal("no golden patches", err)
	}
	for _, file := range archives {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		originals, patched := readGolden(t, name)
		if len(patched) == 0 {
			continue
		}
		if golden[name] == "" {
			t.Errorf("%s has a patch and no claim: add `kind T.f T.mu`, what its strategy claims, to the table golden", name)
			continue
		}
		patches[name] = patched
		for f, data := range originals {
			files[name+"/"+f] = data
		}
	}
	m := load(t, files)
	for name, claim := range golden {
		t.Run(name, func(t *testing.T) {
			if patches[name] == nil {
				t.Fatal("there is no such golden patch")
			}
			missing := doubted[name]
			for _, r := range check(t, m.session(t, name), name, claim, patches[name]) {
				if r.Weight == "" || r.Obligation != doubted[name] {
					t.Errorf("refused: %s: %s", r.Obligation, r.Reason)
				}
				missing = ""
			}
			if missing != "" {
				t.Errorf("no doubt of %q", missing)
			}
		})
	}
}

// TestWrong runs the archives of testdata, of which each holds an original
// (a.go), a right patch of it (right.go) and wrong ones. Or it names a golden
// patch of package patchgen, which is the right one. Without a right patch the
// wrong ones are changes of the original. The comment holds
//
//	golden: name
//	claim: what the patches claim, as in the table above
//
// and each other section is a wrong patch: a line
//
//	refuse: obligation: a part of the reason
//
// if the obligation is known to fail, so that the patch is withheld, or
//
//	doubt: obligation: a part of the reason
//
// where that could not be shown. There may be several such lines; without a refuse: line none is known to fail, so that
// the patch may become a draft. Behind them stand changes of the right one, each the lines `< old` and the lines
// `> new`; a line `---` between them is left out of account. The old lines stand once in the right patch, one behind
// the other. They are whole lines: `// race: …` behind a line of a golden patch belongs to it. In reasons the package
// has the name of the archive: `(*counted_places.server).loop`.
func TestWrong(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	var cases []*wrongCase
	files := map[string][]byte{}
	for _, file := range archives {
		c := readWrong(t, file)
		cases = append(cases, c)
		for name, data := range c.originals {
			files[c.name+"/"+name] = data
		}
	}
	m := load(t, files)
	wrong, refused := 0, 0
	for _, c := range cases {
		s := m.session(t, c.name)
		if c.right == nil {
			c.right = c.originals
		} else {
			t.Run(c.name+"/right", func(t *testing.T) {
				for _, r := range check(t, s, c.name, c.claim, c.right) {
					t.Errorf("refused: %s: %s", r.Obligation, r.Reason)
				}
			})
		}
		for _, w := range c.wrong {
			wrong++
			if t.Run(c.name+"/"+w.Name, func(t *testing.T) { c.refuses(t, s, w) }) {
				refused++
			}
		}
	}
	t.Logf("%d of %d wrong patches are refused for the right reason", refused, wrong)
	if wrong < 45 {
		t.Errorf("%d wrong patches, want 45 at least", wrong)
	}
}

type wrongCase struct {
	name, claim      string
	originals, right map[string][]byte
	wrong            []txtar.File
}

func readWrong(t *testing.T, file string) *wrongCase {
	t.Helper()
	ar, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &wrongCase{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), originals: map[string][]byte{}}
	for line := range strings.Lines(string(ar.Comment)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), ": "); key {
		case "golden":
			c.originals, c.right = readGolden(t, value)
			for name, data := range c.originals {
				c.originals[name] = []byte(strings.Replace(string(data), "package "+value, "package a", 1))
			}
			c.claim = golden[value]
		case "claim":
			c.claim = value
		}
	}
	for _, f := range ar.Files {
		switch f.Name {
		case "a.go":
			c.originals["a.go"] = f.Data
		case "right.go":
			c.right = map[string][]byte{"a.go": f.Data}
		default:
			c.wrong = append(c.wrong, f)
		}
	}
	return c
}

// refuses demands that a wrong patch is refused for the right reason.
func (c *wrongCase) refuses(t *testing.T, s *session.Session, w txtar.File) {
	// The lines on the verdict, and behind them the changes.
	var want []string
	rest := string(w.Data)
	for strings.HasPrefix(rest, "refuse: ") || strings.HasPrefix(rest, "doubt: ") {
		var first string
		first, rest, _ = strings.Cut(rest, "\n")
		want = append(want, first)
	}
	if len(want) == 0 {
		t.Fatalf("no refuse: or doubt: line, but %q", rest)
	}
	files := map[string][]byte{}
	for name, data := range c.right {
		files[name] = data
	}
	files["a.go"] = []byte(change(t, string(c.right["a.go"]), rest))
	fails := false
	var answers []string
	for _, r := range check(t, s, c.name, c.claim, files) {
		answer := "refuse: "
		if _, isDoubt := r.Doubt(); isDoubt {
			answer = "doubt: "
		} else {
			fails = true
		}
		answers = append(answers, answer+r.Obligation+": "+r.Reason)
	}
	mayFail := false
	for _, line := range want {
		verdict, reason, _ := strings.Cut(line, ": ")
		obligation, part, _ := strings.Cut(reason, ": ")
		mayFail = mayFail || verdict == "refuse"
		if !slices.ContainsFunc(answers, func(a string) bool {
			rest, same := strings.CutPrefix(a, verdict+": "+obligation+": ")
			return same && strings.Contains(rest, part)
		}) {
			t.Errorf("want %q, not %q", line, answers)
		}
	}
	if fails && !mayFail {
		t.Errorf("it is to be a draft, but an obligation is known to fail: %q", answers)
	}
}

// change makes the changes that text lists.
func change(t *testing.T, src, text string) string {
	t.Helper()
	var old, now strings.Builder
	flush := func() {
		if n := strings.Count(src, old.String()); old.Len() > 0 && n != 1 {
			t.Fatalf("these lines stand %d times in the right patch:\n%s", n, old.String())
		}
		src = strings.Replace(src, old.String(), now.String(), 1)
		old.Reset()
		now.Reset()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n") + "\n"
		switch {
		case strings.HasPrefix(line, "<"):
			if now.Len() > 0 {
				flush()
			}
			old.WriteString(strings.TrimPrefix(line[1:], " "))
		case strings.HasPrefix(line, ">"):
			now.WriteString(strings.TrimPrefix(line[1:], " "))
		}
	}
	flush()
	return src
}
