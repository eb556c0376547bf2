// Blocks of sizes that nobody else asks for, by functions whose names are known, in threads and through an exception.
import core.stdc.stdlib : cfree = free, malloc;
import core.atomic : atomicStore;
import core.thread;
import std.stdio;

pragma(inline, false):

// Seen by all, or a compiler leaves the block out.
shared void* seen;

extern (C) size_t innermost(size_t size)
{
    auto block = malloc(size);
    atomicStore(seen, cast(shared) block);
    cfree(block);
    return size;
}

extern (C) size_t between(size_t size)
{
    return innermost(size) + 1;
}

extern (C) size_t by_main()
{
    size_t sum;
    foreach (i; 0 .. 30)
        sum += between(70_001);
    return sum;
}

extern (C) void by_thread()
{
    foreach (i; 0 .. 20)
        if (between(70_003) != 70_004)
            abort();
}

void thrower(int depth)
{
    between(70_005);
    if (depth == 0)
        throw new Exception("thrown");
    thrower(depth - 1);
}

extern (C) void abort();

void main()
{
    auto sum = by_main();
    Thread[] threads;
    foreach (i; 0 .. 3)
        threads ~= new Thread({ by_thread(); }).start();
    foreach (one; threads)
        one.join();
    int caught;
    foreach (i; 0 .. 5)
    {
        try
            thrower(3);
        catch (Exception error)
            caught++;
    }
    writeln("sum ", sum, " caught ", caught);
}
