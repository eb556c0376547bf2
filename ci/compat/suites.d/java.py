"""Java: the compiler on something sizable, then direct buffers, threads, collections of garbage, zip streams, processes."""

import re

from run import Suite

WORK = r"""
import java.io.*;
import java.lang.management.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.security.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import java.util.zip.*;

public class Work {
    static String sha(byte[] bytes) throws Exception { return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)); }
    static byte[] pattern(int size, int seed) { byte[] b = new byte[size]; for (int i = 0; i < size; i++) b[i] = (byte) (i * seed >> 3); return b; }
    static void tell(String name, Object value) { System.out.println(name + " = " + value); }

    static void direct() {
        long sum = 0;
        List<ByteBuffer> kept = new ArrayList<>();
        for (int i = 0; i < 20000; i++) {
            ByteBuffer b = ByteBuffer.allocateDirect(1 + i % 9000);
            b.put(0, (byte) i);
            sum += b.get(0);
            if (i % 10 == 0) kept.add(b);
            if (i % 5000 == 0) System.gc();
        }
        tell("direct", sum + " " + kept.stream().mapToLong(ByteBuffer::capacity).sum());
        try { for (List<ByteBuffer> all = new ArrayList<>();;) all.add(ByteBuffer.allocateDirect(16 << 20)); }
        catch (OutOfMemoryError full) { tell("direct memory is full", full.getMessage().replaceAll("\\d+", "N")); }
    }

    static void threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        List<Future<Long>> all = new ArrayList<>();
        for (int i = 0; i < 100; i++) { final int n = i; all.add(pool.submit(() -> {
            Map<String, byte[]> map = new HashMap<>(); long s = 0;
            for (int j = 0; j < 2000; j++) { map.put("k" + j % 100, new byte[j]); s += map.size(); }
            return s + n; })); }
        long sum = 0;
        for (Future<Long> one : all) sum += one.get();
        pool.shutdown();
        AtomicLong short_lived = new AtomicLong();
        for (int i = 0; i < 500; i++) { Thread t = new Thread(() -> short_lived.addAndGet(new byte[1000].length)); t.start(); t.join(); }
        Object lock = new Object(); int[] turn = {0};
        Thread other = new Thread(() -> { synchronized (lock) { for (int i = 0; i < 1000; i++) { while (turn[0] % 2 == 0) try { lock.wait(); } catch (InterruptedException e) { return; } turn[0]++; lock.notifyAll(); } } });
        other.start();
        synchronized (lock) { for (int i = 0; i < 1000; i++) { while (turn[0] % 2 == 1) lock.wait(); turn[0]++; lock.notifyAll(); } }
        other.join();
        tell("threads", sum + " " + short_lived + " " + turn[0] + " " + IntStream.range(0, 1_000_000).parallel().mapToLong(i -> i * 31L % 7).sum());
    }

    static void zip() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            for (int i = 0; i < 200; i++) { ZipEntry e = new ZipEntry("e" + i); e.setTime(0); zip.putNextEntry(e); zip.write(pattern(i * 500, i + 3)); }
        }
        int count = 0; long bytes = 0;
        try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(out.toByteArray()))) {
            while (zip.getNextEntry() != null) { count++; bytes += zip.readAllBytes().length; }
        }
        tell("zip", count + " " + bytes + " " + out.size());
        for (int level = 0; level < 10; level += 3) for (int i = 0; i < 50; i++) {
            Deflater d = new Deflater(level); d.setInput(pattern(50000, i + 1)); d.finish();
            byte[] packed = new byte[60000]; int n = d.deflate(packed);
            Inflater f = new Inflater(); f.setInput(packed, 0, n); byte[] again = new byte[50000];
            if (f.inflate(again) != 50000) tell("inflate", "wrong");
            // Some are left to the collector.
            if (i % 2 == 0) { d.end(); f.end(); }
            if (i == 49) tell("level " + level, n + " " + sha(again));
        }
    }

    static void processes() throws Exception {
        List<String> said = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Process p = new ProcessBuilder("/bin/sh", "-c", "cat; exit " + i % 4).redirectErrorStream(true).start();
            try (OutputStream o = p.getOutputStream()) { o.write(("text " + i).getBytes()); }
            said.add(new String(p.getInputStream().readAllBytes()) + p.waitFor());
        }
        Process killed = new ProcessBuilder("/bin/sleep", "100").start();
        killed.destroyForcibly();
        tell("processes", said + " " + killed.waitFor());
        try { new ProcessBuilder("/nothing").start(); } catch (IOException e) { tell("no program", e.getMessage()); }
    }

    static void files() throws Exception {
        Path path = Path.of("mapped");
        try (FileChannel f = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int i = 0; i < 100; i++) { MappedByteBuffer m = f.map(FileChannel.MapMode.READ_WRITE, i * 4096L, 4096); m.put(pattern(4096, i)); }
        }
        tell("mapped", sha(Files.readAllBytes(path)));
    }

    static int deep(int n) { return deep(n + 1) + 1; }

    static void faults() {
        try { deep(0); } catch (StackOverflowError e) { tell("a stack overflow", "caught"); }
        int nulls = 0; String none = System.getProperty("nothing");
        for (int i = 0; i < 20000; i++) try { none.length(); } catch (NullPointerException e) { nulls++; }
        try { List<long[]> all = new ArrayList<>(); for (;;) all.add(new long[1 << 20]); } catch (OutOfMemoryError e) { tell("the heap is full", e.getMessage()); }
        tell("null pointers", nulls);
    }

    public static void main(String[] words) throws Exception {
        direct(); threads(); zip(); processes(); files(); faults();
        for (int i = 0; i < 5; i++) System.gc();
        tell("collectors", ManagementFactory.getGarbageCollectorMXBeans().size());
        System.exit(5);
    }
}
"""


def generated(classes):
    """Source for the compiler to work on."""
    for n in range(classes):
        methods = "".join(
            f"    public <T extends Comparable<T>> Map<T, List<String>> m{m}(Collection<T> c) {{\n"
            f"        return c.stream().filter(x -> x != null).sorted().collect(Collectors.groupingBy(x -> x, TreeMap::new,\n"
            f"            Collectors.mapping(x -> switch (x.hashCode() % {m + 2}) {{ case 0 -> \"zero{n}\"; case 1 -> \"one\"; default -> x + \"{m}\"; }}, Collectors.toList())));\n    }}\n"
            for m in range(8))
        yield f"G{n}", (f"package g;\nimport java.util.*;\nimport java.util.stream.*;\npublic class G{n}{f' extends G{n - 1}' if n % 10 else ''} {{\n{methods}"
                        f"    public record R{n}(int a, String b) {{}}\n    sealed interface S permits A, B {{}}\n    record A() implements S {{}}\n    record B() implements S {{}}\n}}\n")


def work(run):
    (run.place / "Work.java").write_text(WORK)
    (run.place / "g").mkdir()
    names = []
    for name, text in generated(80):
        (run.place / "g" / f"{name}.java").write_text(text)
        names.append(f"g/{name}.java")
    results = {"javac": str(run.call(["javac", "-Xlint:none", "-d", "out", "Work.java", *names]))}
    results["classes"] = digests(run.place / "out")
    for name, options in [("G1", ["-XX:+UseG1GC"]), ("serial", ["-XX:+UseSerialGC"]), ("parallel, one tier", ["-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1"]),
                          ("Z, checked", ["-XX:+UseZGC", "-Xcheck:jni", "-XX:NativeMemoryTracking=summary"])]:
        code, out, err = run.call(["java", "-Xmx128m", "-XX:MaxDirectMemorySize=200m", *options, "-cp", "out", "Work"])
        results.update({f"{name}, {line.split(' = ')[0]}": line for line in out.splitlines() if " = " in line})
        results[f"{name}, exit status"] = f"{code} {re.sub(r'[0-9]+', 'N', err[-200:])}"
        if code != 5:
            run.fail(f"java with {name}: exit {code}: {err[-200:]}")
    results["jar"] = str(run.call(["jar", "--create", "--date=2020-01-01T00:00:00Z", "--file=a.jar", "-C", "out", "."])[0])
    results["jar, names"] = run.must(["jar", "--list", "--file=a.jar"])
    return results


def digests(folder):
    import hashlib
    return "\n".join(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in sorted(folder.rglob("*.class")))


SUITES = [Suite("java.programs", "suites-long", work, images={"java": 4, "javac": 1, "jar": 2}, kills=True)]
