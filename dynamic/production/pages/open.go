package pages

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Mount hangs the handler below [Prefix] of a mux. It names methods in its patterns, as net/http/pprof does, so that a
// pattern of the program such as "GET /" stands beside them.
func Mount(mux *http.ServeMux, h http.Handler) (err error) {
	defer func() {
		if r := recover(); r != nil { // a pattern that conflicts with one of the program's
			err = fmt.Errorf("%v", r)
		}
	}()
	mux.Handle("GET "+Prefix, h)
	mux.Handle("POST "+Prefix, h)
	// Muxes of programs that were written for Go 1.21 and earlier know no methods.
	trial := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: Prefix}}
	if _, pattern := mux.Handler(trial); !strings.HasSuffix(pattern, Prefix) {
		mux.Handle(Prefix, h)
	}
	return nil
}

// Listen serves the handler on an address of this machine, in a goroutine, until the process ends.
func Listen(address string, h http.Handler) (net.Addr, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{
		Handler: onlyLocal(h), ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, MaxHeaderBytes: 1 << 16,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			l.Close()
		}
	}()
	return l.Addr(), nil
}

// onlyLocal refuses requests for a host with a name of somebody's: a page of another site could otherwise have the
// browser resolve that site's name to this machine, and read what is here.
func onlyLocal(h http.Handler) http.Handler {
	return http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		if !isLocal(r.Host) {
			http.Error(to, "this answers requests for localhost alone", http.StatusForbidden)
			return
		}
		h.ServeHTTP(to, r)
	})
}

// isLocal reports whether the host of a request is this machine, with a port or without.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}
