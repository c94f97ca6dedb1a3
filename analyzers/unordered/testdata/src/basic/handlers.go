package basic

import (
	"net/http"
	"sync"
)

// Counting counts what each request asks for.
func Counting(next http.Handler) http.Handler {
	hits := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits[r.URL.Path]++ // want `what .* holds is accessed by two goroutines that nothing orders: net/http runs the handler in a goroutine for each request`
		next.ServeHTTP(w, r)
	})
}

// Locked does so under a lock.
func Locked(mux *http.ServeMux) {
	var mu sync.Mutex
	hits := map[string]int{}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		hits[r.URL.Path]++ // ok
		own := map[string]int{}
		own["a"]++ // ok: of this request alone
	})
}

// Callback waits for one request.
func Callback(mux *http.ServeMux) string {
	code, done := "", make(chan bool)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		code = r.FormValue("code") // ok: set, not changed
		close(done)
	})
	<-done
	return code
}
