package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/google/go-github/v92/github"
)

// Worker does a job. It returns a note on its end; after an error the job is tried again later.
type Worker func(ctx context.Context, j Job) (note string, err error)

// Server receives webhooks, and has a worker do the jobs.
type Server struct {
	Queue  *Queue
	Secret []byte // of the webhooks; not empty
	Work   Worker
	Log    func(string)

	wake chan struct{} // a job may be due

	mu   sync.Mutex
	at   Job                     // guarded by mu; the job that is being worked on
	stop context.CancelCauseFunc // guarded by mu; ends the work on it; nil between jobs
}

// errOvertaken is why work ends on a head that a newer delivery for its request has come for.
var errOvertaken = errors.New("the request has another head")

// maxDelivery is how large a delivery may be: GitHub sends 25 MB at most.
const maxDelivery = 25 << 20

// Serve serves until ctx ends; a job that is being worked on then is done again by the next server.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if len(s.Secret) == 0 {
		return errors.New("a webhook without a secret would run anybody's code: set one")
	}
	s.wake = make(chan struct{}, 1)
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute, MaxHeaderBytes: 1 << 16}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	worker := make(chan struct{})
	go func() {
		defer close(worker)
		s.work(ctx)
	}()
	// No delivery that was answered is lost: the queue has it.
	select {
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err := server.Shutdown(grace)
		<-worker
		return err
	case err := <-ended:
		return err
	}
}

// handler answers deliveries at any path but /health.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /", s.receive)
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		counts, err := s.Queue.Counts(r.Context())
		if err != nil {
			http.Error(w, "the queue cannot be read", http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, counts)
	})
	return mux
}

// receive queues the job of a delivery. It is answered once the job is on the disk.
func (s *Server) receive(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxDelivery)
	body, err := github.ValidatePayload(r, s.Secret)
	if err != nil {
		http.Error(w, "the signature is missing or wrong", http.StatusUnauthorized)
		return
	}
	j, ignored, err := jobOf(github.WebHookType(r), body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case ignored != "":
		fmt.Fprintln(w, "ignored: "+ignored)
		return
	}
	// The signed text itself is remembered: a copy of it changes nothing.
	sum := sha256.Sum256(body)
	isNew, err := s.Queue.Add(r.Context(), hex.EncodeToString(sum[:]), j)
	switch {
	case err != nil:
		s.Log(fmt.Sprintf("queueing %v: %v", j, err))
		http.Error(w, "the queue cannot be written", http.StatusServiceUnavailable)
	case !isNew:
		http.Error(w, "this delivery has come before", http.StatusConflict)
	default:
		s.overtake(j)
		w.WriteHeader(http.StatusAccepted)
		select {
		case s.wake <- struct{}{}:
		default: // the worker will look anyway
		}
	}
}

// poll is how often the worker looks for jobs that are due again.
const poll = 10 * time.Second

// work does the jobs one by one.
func (s *Server) work(ctx context.Context) {
	for ctx.Err() == nil {
		j, ok, err := s.Queue.Take(ctx)
		if err != nil && ctx.Err() == nil {
			s.Log(fmt.Sprintf("taking a job: %v", err))
		}
		if !ok {
			select {
			case <-ctx.Done():
			case <-s.wake:
			case <-time.After(poll):
			}
			continue
		}
		s.do(ctx, j)
	}
}

// overtake ends the work on another head of the request that j is about.
func (s *Server) overtake(j Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop != nil && j.Comment == 0 && s.at.Comment == 0 && j.Head != s.at.Head &&
		j.Repository == s.at.Repository && j.Number == s.at.Number {
		s.stop(errOvertaken)
	}
}

// do has the worker do one job. One that was cut off by the end of the server stays at work, and so is done again.
func (s *Server) do(ctx context.Context, j Job) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.setJob(j, stop)
	note, err := s.attempt(work, j)
	s.setJob(Job{}, nil)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil && context.Cause(work) == errOvertaken:
		// Deliveries may come out of order, so the job is due again: the forge knows which head is the last.
		s.Log(fmt.Sprintf("%v: ended, as %v", j, errOvertaken))
		err = s.Queue.set(ctx, j, queued, time.Now(), errOvertaken.Error())
	case err != nil:
		s.Log(fmt.Sprintf("%v: %v", j, err))
		err = s.Queue.Retry(ctx, j, err.Error())
	default:
		s.Log(fmt.Sprintf("%v: %s", j, note))
		err = s.Queue.Finish(ctx, j, note)
	}
	if err != nil && ctx.Err() == nil {
		s.Log(fmt.Sprintf("%v: writing the queue: %v", j, err))
	}
}

// setJob notes the job that is being worked on, and how to end that.
func (s *Server) setJob(j Job, stop context.CancelCauseFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at, s.stop = j, stop
}

// attempt is Work, whose panic is an error of one job.
func (s *Server) attempt(ctx context.Context, j Job) (note string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return s.Work(ctx, j)
}
