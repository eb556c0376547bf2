package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var keep [][]byte

//go:noinline
func table() { keep = append(keep, make([]byte, 1<<20)) }

//go:noinline
func churn() {
	for i := 0; i < 100; i++ {
		b := make([]byte, 10000)
		b[5] = 1
		if i == 3 {
			keep = append(keep, b)
		}
		sink = b
	}
}

var sink []byte

func inl(n int) []byte { return make([]byte, n) }

func main() {
	runtime.MemProfileRate = 1
	table()
	churn()
	for i := 0; i < 10; i++ {
		keep = append(keep, inl(5000+i))
	}
	sink = nil
	runtime.GC()
	f, _ := os.Create(os.Args[1])
	pprof.Lookup("heap").WriteTo(f, 0)
	f.Close()
}
