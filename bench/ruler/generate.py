"""Writes the C sources of 192 functions that call each other in any order.

A function of kind k calls four of kind k + 1, so each stack has every kind in
turn whatever path it took: one frame in 24 uses alloca, one in 6 keeps a frame
pointer. Half the functions lie in a shared library. The four calls of malloc in
a function differ in their return addresses, so a choice at each level is a path,
and different paths are different stacks.
"""
import random

KINDS, BLOCKS, CHOICES = 24, 8, 4
ALLOCA_KIND = 5
FUNCTION = """
KEEP unsigned long {name}(struct walk *w, int level)
{{
    unsigned long {counters};
    char local[{room}];
    {alloca}
    USED(local);
    do {{
        switch (w->choice[level] | (level == w->last ? CHOICES : 0)) {{
{cases}
        }}
        USED(local);{used}
    }} while (w->fork == level);
    return {sum};
}}
"""


def frame_pointer(kind):
    return kind % 6 == 2


def function(kind, block, chance):
    """One function: its frame has 1 to 5 saved registers and 8 to 200 bytes of locals."""
    name = f"f{kind}_{block}"
    counters = [f"n{i}" for i in range(chance.randint(1, 5))]
    callees = chance.sample(range(BLOCKS), CHOICES)
    cases = [f"        case {c}: {counters[c % len(counters)]} += f{(kind + 1) % KINDS}_{callee}(w, level + 1); break;"
             for c, callee in enumerate(callees)]
    cases += [f'        case {CHOICES + c}: PAIR("{name} {c}"); {counters[c % len(counters)]}++; break;'
              for c in range(CHOICES)]
    alloca = kind == ALLOCA_KIND
    return FUNCTION.format(
        name=name, cases="\n".join(cases), sum=" ^ ".join(counters), room=8 * chance.randint(1, 25),
        counters=", ".join(f"{c} = w->left + {i}" for i, c in enumerate(counters)),
        alloca="char *more = __builtin_alloca(16 + (w->left + level) % 48);" if alloca else "",
        used=" USED(more);" if alloca else "")


def sources():
    """File name -> text: program and library, each with and without frame pointers."""
    chance = random.Random(192)
    names = [f"f{kind}_{block}" for kind in range(KINDS) for block in range(BLOCKS)]
    head = '#include "walk.h"\n' + "".join(f"level_function {name};\n" for name in names)
    files = {f"{where}{how}.c": [head] for where in ("program", "library") for how in ("", "_fp")}
    for kind in range(KINDS):
        for block in range(BLOCKS):
            where = "program" if block < BLOCKS // 2 else "library"
            how = "_fp" if frame_pointer(kind) else ""
            files[f"{where}{how}.c"].append(function(kind, block, chance))
    return {name: "".join(parts) for name, parts in files.items()}
