# What: builds the programs of ppc64-cross/programs for the target that target_is has set, runs them, and compares.
# Why:  ppc64-cross/test is the order of things, this is one program in one shape.
# Run:  sourced by ppc64-cross/test, with work, lib and memlog set
# shellcheck shell=bash disable=SC2154
programs=ppc64-cross/programs
# No processor's compiler is to leave the unwind tables of C out, as RISC-V's and MIPS's do.
tables=-fasynchronous-unwind-tables
c_flags=(-O1 -g -Wall -Werror -fno-builtin $tables)
five=-Wl,--wrap,malloc,--wrap,free,--wrap,realloc,--wrap,calloc,--wrap,memalign

# Sets sources and link_with, a compiler and its flags, or says why there is none.
recipe_of() { # PROGRAM
    link_with=("$compiler") sources=("$programs/$1.c") own_flags=("${c_flags[@]}")
    # musl has no backtrace, but the compiler's own library has one, which needs
    # the header that musl-gcc does not ask for.
    case $compiler in musl-*) own_flags+=(-DSEEN_UNWIND -D_GNU_SOURCE -funwind-tables) link_with+=(-Wl,--eh-frame-hdr) ;; esac
    case $1 in
    threads) link_with+=(-pthread) ;;
    openmp) own_flags+=(-fopenmp) link_with+=(-fopenmp) ;;
    fortran) sources=("$programs/seen_once.c" "$programs/fortran.f90") link_with=("${prefix}gfortran") ;;
    throw) sources=("$programs/throw.cpp") link_with=("${prefix}g++") ;;
    esac
    case $1:$prefix in
    throw:) echo "there is no C++ library for $compiler" ;;
    fortran:) echo "there is no Fortran library for $compiler" ;;
    openmp:) echo "there is no OpenMP library for $compiler" ;;
    *) return 0 ;;
    esac
    return 1
}

compile() { # SOURCE OBJECT
    case $1 in
    *.c) "$compiler" "${own_flags[@]}" -fPIC -c "$1" -o "$2" ;;
    *.cpp) "${prefix}g++" -std=c++17 -O1 -g $tables -Wall -Werror -fPIC -c "$1" -o "$2" ;;
    *.f90) "${prefix}gfortran" -O1 -g $tables -J "$work" -c "$1" -o "$2" ;;
    esac
}

# PROGRAM: its objects in work, their names in objects.
compile_all() {
    local source
    objects=()
    for source in "${sources[@]}"; do
        objects+=("$work/$1.$(basename "$source").o")
        compile "$source" "${objects[-1]}" || return
    done
}

launch() { # PRELOADED PROGRAM
    if [ -n "$runner" ]; then
        timeout -k 5 1000 "$runner" -L "$root" ${1:+-E "LD_PRELOAD=$1"} "$2"
    else
        timeout -k 5 1000 env ${root:+"LD_LIBRARY_PATH=$root/lib"} ${1:+"LD_PRELOAD=$1"} "$2"
    fi
}

# The first check of all: that this is the machine it is said to be.
is_as_announced() {
    local kind word=LSB said
    [ "$endian" = little ] || word=MSB
    "$compiler" "${c_flags[@]}" -static $programs/words.c -o "$work/words" "@$lib/memlog_s_ld_cmds" || return
    kind=$(file -b "$work/words")
    case $kind in
    *"$bits-bit $word "*"$machine"*) ;;
    *) say "not $bits bits $word of $machine: $kind" >&2; return 1 ;;
    esac
    said=$(MEMLOG_OUTPUT=$work/words.memlog launch '' "$work/words")
    [ "$said" = "$endian $bits" ] || { say "not $endian $bits: the program says '$said'" >&2; return 1; }
    say "$kind; it says: $said" >&2
}

# Links PROGRAM for SHAPE: without memlog, with it, and with it over the second recorder.
link_all() {
    local into=$work/$1.$2 across=$work/family.across.o more=()
    [ "$1" != family ] || compile $programs/across.c "$across" || return
    if [ "$2" = dynamic ]; then
        if [ "$1" = family ]; then
            "$compiler" -shared "$across" -o "$work/libacross.so" || return
            more=("$work/libacross.so" "-Wl,-rpath,$work")
        fi
        # What runs without an emulator finds no loader of its own under /.
        [ -n "$runner" ] || [ -z "$root" ] || more+=(-Wl,--dynamic-linker="$(echo "$root"/lib/ld-linux*.so.*)")
        "${link_with[@]}" "${objects[@]}" -o "$into" "${more[@]}"
        return
    fi
    [ "$1" != family ] || more=("$across")
    local with=("@$lib/memlog_s_ld_cmds") over=("@$work/second/static.cmds" "$work/second/static.o")
    # shellcheck disable=SC2206  # the line of 2015, one word a flag
    [ "$2" = static ] || with=($five "$lib/memlog_s.o" -lpthread -ldl) over=($five "$work/second/memlog_s.o" "$work/second/2015.o" -lpthread -ldl)
    # What the linker says of dlopen in static libraries is not about us.
    "${link_with[@]}" -static "${objects[@]}" "${more[@]}" -o "$into" 2>"$into.warned" &&
        "${link_with[@]}" -static "${objects[@]}" "${more[@]}" -o "$into.memlog" "${with[@]}" 2>>"$into.warned" &&
        "${link_with[@]}" -static "${objects[@]}" "${more[@]}" -o "$into.second" "${over[@]}" 2>>"$into.warned" || { cat "$into.warned"; return 1; }
}

# The second recorder in its three shapes, and memlog over it: what it called
# __real_malloc is second_malloc there, and nothing else is different.
build_second() {
    local to=$work/second compile_it=("$compiler" "${c_flags[@]}" $programs/second.c) names='malloc free calloc realloc memalign'
    mkdir -p "$to" &&
        "${compile_it[@]}" -c -DSECOND_FIVE -o "$to/2015.o" && "${compile_it[@]}" -c -o "$to/static.o" || return
    [ "$shared" = no ] || "${compile_it[@]}" -shared -fPIC -DSECOND_SHARED -o "$to/libsecond.so" -ldl || return
    printf '__real_%s second_%s\n' $(printf '%s\n' $names | sed 's/.*/& &/') >"$to/five"
    # What this C library has not is not wrapped, and stays as it is.
    for entry in reallocarray posix_memalign aligned_alloc valloc pvalloc; do
        ! grep -q -- "--wrap,$entry " "$lib/memlog_s_ld_cmds" || names="$names $entry"
    done
    printf '__real_%s second_%s\n' $(printf '%s\n' $names | sed 's/.*/& &/') >"$to/all"
    "${prefix}objcopy" --redefine-syms="$to/five" "$lib/memlog_s.o" "$to/memlog_s.o" &&
        "${prefix}objcopy" --redefine-syms="$to/all" "$lib/memlog_s.a" "$to/memlog_s.a" &&
        sed "s|$lib/memlog_s.a|$to/memlog_s.a|" "$lib/memlog_s_ld_cmds" >"$to/static.cmds"
}

# What of the C library has unwind tables. gcc makes none of C for RISC-V and says
# for ARM that nobody unwinds what throws nothing: glibc asks for them where it
# calls back.
tables_there() {
    case $compiler:$machine in
    musl-*) echo none ;;
    *:RISC-V|*:MIPS) echo half ;;
    *:ARM) echo half-stated ;;
    *) echo all ;;
    esac
}

# Runs PROGRAM with memlog; its log and what it told are OUTPUT.*
recorded() { # PRELOADED PROGRAM OUTPUT
    rm -f "$3.log"
    MEMLOG_VERIFY=1 MEMLOG_OUTPUT=$3.log launch "$1" "$2" >"$3.out" 3>"$3.stacks" 4>"$3.events"
}

# Nothing but the log may tell that memlog was there.
is_unchanged() { # WITHOUT CODE_WITHOUT OUTPUT CODE
    [ "$4" = "$2" ] || { echo "with memlog it ends with $4, not $2"; return 1; }
    cmp "$1" "$3.out" || return
    "$memlog" dump "$3.log" >"$3.dump" && "$memlog" stats --json "$3.log" >"$3.json"
}

run_all() { # PROGRAM SHAPE
    local into=$work/$1.$2 how=() code=0 without=0 preload='' with=$work/$1.$2.memlog second
    [ "$1" != threads ] && [ "$1" != openmp ] || how+=(--threads)
    [ "$2" != 2015 ] || how+=(--five)
    how+=(--tables "$(tables_there)")
    [ "$1" != signals ] || how+=(--handlers)
    # Blue Gene's recorder has room for fewer frames than deep.c's deepest stack.
    [ "$1:$platform" != deep:cnk ] || how+=(--too-deep 1)
    launch '' "$into" >"$into.without" 3>&- 4>&- || without=$?
    case $1:$without in
    family:5) ;;
    family:*|*:[1-9]*) echo "without memlog it ends with $without"; return 1 ;;
    esac
    if [ "$2" = dynamic ]; then
        preload=$lib/libmemlog.so:$work/second/libsecond.so with=$into second=$into
    else
        second=$into.second
        recorded '' "$second" "$second" || code=$?
        is_unchanged "$into.without" $without "$second" $code || return
        python3 ppc64-cross/check_program.py "$second" --events "${how[@]}" || return
        code=0
    fi
    recorded "$preload" "$with" "$into" || code=$?
    is_unchanged "$into.without" $without "$into" $code || return
    [ "$2" != dynamic ] || how+=(--events)
    python3 ppc64-cross/check_program.py "$into" --stacks "${how[@]}"
}

# A log that is bent a little must be found wrong, or what passes proves nothing.
objects_to() { # RUN FILE SED HOW...
    local kind
    for kind in dump json stacks events; do cp "$1.$kind" "$work/bent.$kind" || return; done
    sed -i "$3" "$work/bent.$2"
    if python3 ppc64-cross/check_program.py "$work/bent" "${@:4}" >/dev/null || cmp -s "$1.$2" "$work/bent.$2"; then
        echo "$2 bent by '$3' passes"
        return 1
    fi
}

checker_objects() {
    local run=$work/family.static signals=$work/signals.static stacks events handlers
    stacks=(--stacks --tables "$(tables_there)") events=(--events --tables "$(tables_there)")
    handlers=("${stacks[@]}" --handlers)
    python3 ppc64-cross/check_program.py "$run" "${stacks[@]}" && python3 ppc64-cross/check_program.py "$signals" "${handlers[@]}" &&
        python3 ppc64-cross/check_program.py "$run.second" "${events[@]}" &&
        objects_to "$run.second" dump 100d "${events[@]}" &&
        objects_to "$run.second" events '$s/.*/&\nM 77 77/' "${events[@]}" &&
        objects_to "$run" dump '/^M: 1000035 /s/\t[^\t]*$//' "${stacks[@]}" &&
        objects_to "$run" stacks '/^1000035 /s/$/7/' "${stacks[@]}" &&
        objects_to "$run" stacks d "${stacks[@]}" &&
        objects_to "$signals" dump 's/seen_in_handler/seen_elsewhere/g' "${handlers[@]}" &&
        objects_to "$run" json 's/"lost_events": 0/"lost_events": 1/' "${stacks[@]}" &&
        objects_to "$run" json 's/"verify_differs": 0/"verify_differs": 1/' "${stacks[@]}"
}

# What runs without an emulator finds no loader of its own under /.
own_loader() { [ -n "$runner" ] || [ -z "$root" ] || echo "-Wl,--dynamic-linker=$(echo "$root"/lib/ld-linux*.so.*)"; }

# What an allocator of its own says of its operators new and delete is what a log
# has more with libmemlog_new.so than without.
operators_add_up() {
    local program=$work/operators own=$work/libown.so told=$work/operators.told run kind news deletes more
    local compile_it=("${prefix}g++" -std=c++17 -O2 -g $tables -Wall -Werror -pthread)
    "${compile_it[@]}" -fPIC -shared victims/own_operators.cpp -o "$own" && "${compile_it[@]}" victims/operators.cpp -o "$program" $(own_loader) || return
    for run in less more; do
        rm -f "$told"
        OWN_OPERATORS_COUNT=$told recorded "$lib/libmemlog.so:$([ $run = less ] || echo "$lib/libmemlog_new.so:")$own" "$program" "$program.$run" || return
        "$memlog" stats --json "$program.$run.log" >"$program.$run.json" || return
    done
    read -r _ _ news deletes <"$told"
    [ "${deletes:-0}" -gt 1000 ] && grep -q '"verify_differs": 0,' "$program.more.json" || { echo "operators: $news new, $deletes delete"; return 1; }
    for kind in "allocations $news" "releases $deletes"; do
        more=$(sed -n "s/^  \"${kind% *}\": \([0-9]*\),$/\1 -/p" "$program.more.json" "$program.less.json" | tr '\n' ' ')
        [ "$((${more% - }))" = "${kind#* }" ] || { echo "operators: ${more% - } is not $kind"; return 1; }
    done
}

# What this C library has not, dlsym is not to find in ours either.
entries_stay() {
    local program=$work/entries
    "$compiler" -std=gnu11 -O1 -g -Wall -Werror -pthread victims/torture/loader/entries_exist.c -o "$program" -ldl $(own_loader) &&
        launch '' "$program" >"$program.without" && recorded "$lib/libmemlog.so" "$program" "$program" && cmp "$program.without" "$program.out"
}

# NAME FUNCTION: its line.
run_one() {
    local reason
    if [ "$shared" = no ] || [ -z "$prefix" ]; then
        echo "$1 - SKIPPED there is no such library"
    elif reason=$($2 2>&1); then
        echo "$1 - ok"
    else
        echo "$1 - FAILED"
        say "$name: $1: $reason" >&2
    fi
}

run_programs() { # one line a program and shape, on stdout; what is wrong with it on stderr
    local program shape reason said shapes=(static 2015)
    [ "$shared" = no ] || shapes+=(dynamic)
    build_second >&2 || { echo "second - FAILED"; return; }
    for program in family threads signals deep throw fortran openmp; do
        case $short:$program in yes:fortran|yes:openmp) continue ;; esac
        if ! reason=$(recipe_of $program); then
            echo "$program - SKIPPED $reason"
            echo "SKIPPED $name $program: $reason" >&2
            continue
        fi
        recipe_of $program
        for shape in "${shapes[@]}"; do
            if said=$(compile_all $program && link_all $program "$shape" && run_all $program "$shape") 2>&1; then
                echo "$program $shape ok" "$(grep -E '^(stacks|events) [0-9]' <<<"$said" | tr '\n' ' ')"
            else
                echo "$program $shape FAILED"
                say "$name: $program ($shape):" >&2
                echo "$said" >&2
            fi
        done
    done
    # The allocator reserves more than 32 bits can name.
    [ "$bits" != 64 ] || run_one operators operators_add_up
    run_one entries entries_stay
    if reason=$(checker_objects); then
        echo "checker - ok"
    else
        echo "checker - FAILED"
        say "$name: $reason" >&2
    fi
}
