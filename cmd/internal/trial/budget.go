package trial

import (
	"context"
	"errors"
	"time"
)

// ErrBudget is the error of patches for which there was no time.
var ErrBudget = errors.New("the budget has ended")

const (
	// clockShare is how many times its budget of processor time work may take by the clock: tests that sleep, or wait
	// for ever, take none. Other work of the machine slows it down as well.
	clockShare = 3
	// askEvery is how often the processor time is read.
	askEvery = 200 * time.Millisecond
)

// withBudget returns a context that ends, for [ErrBudget], when this process and those that it has started have used
// so much processor time, or three times as much has passed by the clock; 0 is no limit. A child counts once it has
// ended.
func withBudget(ctx context.Context, budget time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(nil) }
	if budget <= 0 {
		return ctx, end
	}
	began, used := time.Now(), cpuTime()
	go func() {
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(askEvery):
				if cpuTime()-used >= budget || time.Since(began) >= clockShare*budget {
					cancel(ErrBudget)
				}
			}
		}
	}()
	return ctx, end
}
