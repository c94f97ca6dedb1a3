package loops

import "sync"

func Count(jobs []func() int) int {
	var wg sync.WaitGroup
	total := 0
	for _, job := range jobs {
		wg.Add(1)
		go func() {
			total += job() // want `variable total is shared .* so do the other goroutines that the loop starts`
			wg.Done()
		}()
	}
	wg.Wait()
	return total
}

func Each(jobs []int) {
	for _, job := range jobs {
		last := job
		go func() {
			last++ // ok: one each
		}()
	}
}

func Declared(jobs []int) {
	var job int
	for _, job = range jobs {
		go func() {
			use(job) // want `variable job is shared`
		}()
	}
}

func use(int) {}

func OneAtATime(jobs []int) int {
	total := 0
	for range jobs {
		done := make(chan bool)
		go func() {
			total++ // ok: waited for
			close(done)
		}()
		<-done
	}
	return total
}

// What a parameter decides is done all the same.
func Often(jobs []int, each int) {
	var job int
	for _, job = range jobs {
		go func() {
			for j := 0; j < each; j++ {
				use(job) // want `variable job is shared`
			}
		}()
	}
}
