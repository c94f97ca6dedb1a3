//go:build !linux

package main

func opensTimer() bool { return false }
