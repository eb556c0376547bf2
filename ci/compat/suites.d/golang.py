"""Go with cgo: goroutines that allocate in C, processes, plugins, its own tests of what uses cgo."""

from run import Suite

PROGRAM = r"""package main

/*
#cgo LDFLAGS: -lpthread
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <signal.h>
typedef struct list { struct list *next; long n; char text[40]; } list;
static list *make(long n) { list *all = 0; for (long i = 0; i < n; i++) { list *one = calloc(1, sizeof *one); one->n = i; one->next = all; all = one; } return all; }
static long sum(list *all) { long s = 0; while (all) { list *next = all->next; s += all->n; free(all); all = next; } return s; }
extern long goBack(long);
static long through(long n) { char *p = malloc(n + 1); memset(p, 1, n + 1); long r = goBack(n) + p[n]; free(p); return r; }
static void *body(void *arg) { long *n = arg; for (int i = 0; i < 1000; i++) free(malloc(i)); *n = through(*n); return 0; }
static long thread(long n) { pthread_t t; long *p = malloc(sizeof *p); *p = n; pthread_create(&t, 0, body, p); pthread_join(t, 0); long r = *p; free(p); return r; }
static void strike(void) { raise(SIGUSR1); }
*/
import "C"

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

//export goBack
func goBack(n C.long) C.long {
	kept := make([]byte, int(n)%5000+1)
	kept[len(kept)-1] = 2
	if n%64 == 0 {
		runtime.GC()
	}
	return n*2 + C.long(kept[len(kept)-1])
}

func routines() (total int64) {
	var group sync.WaitGroup
	var lock sync.Mutex
	for i := 0; i < 200; i++ {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			var own int64
			for n := 0; n < 20; n++ {
				own += int64(C.sum(C.make(C.long(i + n))))
				own += int64(C.through(C.long(i * n)))
				text := C.CString(strings.Repeat("x", i*n%3000))
				own += int64(len(C.GoString(text)))
				C.free(unsafe.Pointer(text))
			}
			if i%20 == 0 {
				own += int64(C.thread(C.long(i)))
				runtime.LockOSThread() // and so the thread ends with the routine
			}
			lock.Lock()
			total += own
			lock.Unlock()
		}(i)
	}
	group.Wait()
	return
}

func children() (said []string) {
	var group sync.WaitGroup
	said = make([]string, 16)
	for i := range said {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			out, err := exec.Command("/bin/sh", "-c", fmt.Sprintf("cat; exit %d", i%3)).Output()
			command := exec.Command("/usr/bin/sort")
			command.Stdin = strings.NewReader("b\na\n" + string(out))
			sorted, _ := command.Output()
			said[i] = fmt.Sprintf("%q %v", sorted, err)
		}(i)
	}
	group.Wait()
	self := exec.Command(os.Args[0], "child")
	self.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := self.CombinedOutput()
	return append(said, string(out), fmt.Sprint(err))
}

func packed() string {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	for i := 0; i < 200000; i++ {
		fmt.Fprintf(writer, "line %d\n", i*7919%65537)
	}
	writer.Close()
	return fmt.Sprintf("%x", sha256.Sum256(packed.Bytes()))
}

func signals() int {
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, syscall.SIGUSR1)
	count := 0
	for i := 0; i < 50; i++ {
		C.strike()
		select {
		case <-signals:
			count++
		case <-time.After(100 * time.Second):
		}
	}
	return count
}

func faults() (said string) {
	defer func() { said = fmt.Sprint(recover()) }()
	debug.SetPanicOnFault(true)
	var none *int
	return fmt.Sprint(*none)
}

func main() {
	if len(os.Args) > 1 {
		fmt.Println("child", routines())
		os.Exit(3)
	}
	fmt.Println("routines", routines())
	fmt.Println("children", children())
	fmt.Println("packed", packed())
	fmt.Println("signals", signals())
	fmt.Println("fault", faults())
	me, err := user.LookupId("0")
	fmt.Println("user", me.Name, err)
	hosts, err := net.LookupHost("localhost")
	fmt.Println("hosts", len(hosts) > 0, err)
	kept := map[int][]byte{}
	for i := 0; i < 200000; i++ {
		kept[i%5000] = make([]byte, i%1000)
	}
	debug.FreeOSMemory()
	fmt.Println("kept", len(kept))
}
"""

# Packages of Go's own tests that use cgo, threads, signals and processes.
TESTED = {"os/user": "", "os/exec": "TestEcho|TestCat|TestPipes|TestExit|TestStdin|TestContext|TestWait|TestExtraFiles",
          "os/signal": "", "plugin": ""}


def settings(run):
    return {"GOPATH": f"{run.place}/go", "GOCACHE": f"{run.place}/cache", "GOFLAGS": "-mod=mod", "GO111MODULE": "on",
            "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "1"}


def program(run):
    """Built under memlog too: go, its compiler and the C compiler are many processes."""
    # go ignores a module in the folder for temporary files itself.
    source = run.place / "source"
    source.mkdir()
    (source / "main.go").write_text(PROGRAM)
    (source / "go.mod").write_text("module work\n\ngo 1.19\n")
    environment = settings(run)
    run.must(["go", "build", "-o", "../work", "."], environment=environment, cwd=source)
    results = {"go vet": str(run.call(["go", "vet", "."], environment=environment, cwd=source)[0])}
    for threads in (1, 4):
        code, out, err = run.call(["./work"], environment={"GOMAXPROCS": str(threads)})
        results.update({f"{line.split()[0]}, {threads} threads": line for line in out.splitlines()})
        results[f"exit status, {threads} threads"] = f"{code} {err[-300:]}"
        if code:
            run.fail(f"exit {code}: {err[-300:]}")
    return results


def own_tests(run):
    results, environment = {}, settings(run)
    for package, only in TESTED.items():
        binary = run.place / "tests"
        binary.unlink(missing_ok=True)
        run.build(["go", "test", "-c", "-o", binary, package], environment=environment)
        if not binary.exists():
            run.leave_out(package, "has no tests")
            continue
        folder = run.plain(["go", "list", "-f", "{{.Dir}}", package], environment=environment).strip()
        code, out, err = run.call([binary, "-test.v", "-test.short", *(["-test.run", only] if only else [])],
                                  environment=environment, cwd=folder)
        for line in out.splitlines():
            words = line.split()
            if words[:1] == ["---"] and len(words) > 2:
                results[f"{package} {words[2]}"] = words[1]
        results[f"{package}, exit status"] = str(code)
        if code:
            run.leave_out(f"{package}, exit status", f"go test exits {code} without memlog")
    return results


SUITES = [
    Suite("golang.cgo", "suites-long", program, images={"work": 4}, kills=True),
    Suite("golang.tests", "suites-long", own_tests, images={"tests": 3}, kills=True),
]
