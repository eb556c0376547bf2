// Blocks of sizes that nobody else asks for, by C functions that goroutines call, and one that is called back.
package main

/*
#include <stdlib.h>
extern void called_back(int);
static __attribute__((noinline)) int innermost(size_t size)
{
	char *block = malloc(size);
	__asm__ volatile("" : : "r"(block) : "memory");
	free(block);
	__asm__ volatile("" ::: "memory");
	return 1;
}
static __attribute__((noinline)) int between(size_t size)
{
	int said = innermost(size);
	__asm__ volatile("" ::: "memory");
	return said;
}
static __attribute__((noinline)) int by_main(void) { return between(70001) + 1; }
static __attribute__((noinline)) int by_routine(void) { return between(70003) + 1; }
static __attribute__((noinline)) int by_callback(void) { return between(70005) + 1; }
static __attribute__((noinline)) void calls_back(void) { called_back(1); __asm__ volatile("" ::: "memory"); }
*/
import "C"

import (
	"fmt"
	"sync"
)

//export called_back
func called_back(_ C.int) { C.by_callback() }

func main() {
	sum := 0
	for i := 0; i < 30; i++ {
		sum += int(C.by_main())
	}
	var all sync.WaitGroup
	for i := 0; i < 20; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for j := 0; j < 3; j++ {
				C.by_routine()
			}
		}()
	}
	all.Wait()
	for i := 0; i < 5; i++ {
		C.calls_back()
	}
	fmt.Println("sum", sum)
}
