# What: sets name, triple, tools, compiler, runner ... to the line of a target in ppc64-cross/targets.
# Why:  one table, read in one place.
# Run:  . ppc64-cross/target.sh; target_is NAME || exit; targets prints the names
# shellcheck shell=bash disable=SC2034  # who sources this uses them
table=$(dirname "${BASH_SOURCE[0]}")/targets

targets() { awk '!/^#/ && NF { print $1 }' "$table"; }

target_is() { # NAME
    local line
    line=$(awk -v name="$1" '$1 == name' "$table")
    if [ -z "$line" ]; then
        echo "no target is called '$1'; there are: $(targets | tr '\n' ' ')" >&2
        return 2
    fi
    read -r name triple tools packages runner root platform flags endian bits machine shared <<<"$line"
    for column in runner root flags; do
        [ "${!column}" != - ] || printf -v "$column" %s ''
    done
    flags=${flags//,/ }
    # Another compiler for the same processor, as a site has its own.
    tools=${MEMLOG_TOOLS:-$tools}
    case $tools in
    *-) prefix=$tools compiler=${tools}gcc objdump=${tools}objdump ;;
    *) prefix= compiler=$tools objdump=objdump ;;
    esac
}
