# What: the parts of scripts/release: the source with its crates, what is built of it, and how that is packed.
# Why:  the order of things stands in scripts/release; how each is done stands here.
# Run:  . scripts/packaging/parts.sh     wants say, run, fail, version, work, built, out, clean
# shellcheck shell=bash disable=SC2154  # who sources this sets them

version_of() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' "$1"; }

# A release may be made in steps, of one commit: whatever else lies in the
# folder would be given out with it.
claim_folder() { # COMMIT
    local file sum sums=''
    for file in "$out"/memlog[-_]*; do
        [ -e "$file" ] || continue
        sum=$(awk -v name="${file##*/}" '$2 == name' "$out/SHA256SUMS" 2>/dev/null)
        if [ "$(cat "$out/COMMIT" 2>/dev/null)" != "$1" ] || ! (cd "$out" && echo "$sum" | sha256sum -c --status 2>/dev/null); then
            say "$file is not as this commit makes it: empty $out, or give another folder with -o" >&2
            return 1
        fi
        sums+=$sum$'\n'
    done
    # Without those of what is gone.
    printf %s "$sums" >"$out/SHA256SUMS" && echo "$1" >"$out/COMMIT"
}

# In /tmp anybody may have made a folder of any name, or a link; but nobody else
# can move or remove what is this user's.
is_own_folder() { [ ! -L "$1" ] && [ -d "$1" ] && [ -O "$1" ]; }

# An empty folder for this run alone. Its lock says who has it, on descriptor 9:
# all that is started has that too, so it ends when nobody writes there any more,
# however a run was stopped. What one has left is removed by the next.
hold_folder() { # FOLDER [SECONDS]: so long it waits for another run
    local folder=$1 until=$((SECONDS + ${2:-3000})) turns=0
    while :; do
        mkdir -m 700 "$folder" 2>/dev/null
        if is_own_folder "$folder" && { exec 9<"$folder"; } 2>/dev/null; then
            wait_for_lock "$folder" "$until" || { exec 9<&-; return 1; }
            # It may be that of a folder which its run has removed since.
            ! is_own_folder "$folder" || [ ! "$folder" -ef /dev/fd/9 ] || break
            exec 9<&-
            [ $SECONDS -lt $until ] || { say "$folder: it cannot be told whose it is (/proc/self/fd)" >&2; return 1; }
        # Removed in between, if not at each turn.
        elif [ $((turns += 1)) -ge 10 ]; then
            say "$folder is not a folder of this user's that can be opened: have it removed" >&2
            return 1
        fi
    done
    [ -z "$(ls -A "$folder")" ] || say "removing what a release that was stopped has left in $folder"
    chmod 700 "$folder" && find "$folder" -mindepth 1 -maxdepth 1 -exec rm -rf -- {} +
}

wait_for_lock() { # FOLDER UNTIL: on descriptor 9
    ! flock -n 9 || return 0
    local left=$(($2 - SECONDS))
    say "another release is being made in $1: waiting for it, $(((left + 59) / 60)) minutes at most"
    flock -w $((left > 0 ? left : 1)) 9 || {
        say "$1 is there: another release is being made, or what one that was stopped has started still runs" >&2
        return 1
    }
}

# A file of the release has its name when it is whole, and its sum with it.
finish() { # NAME: out/.NAME.new is it
    local sum sums=$out/SHA256SUMS
    sum=$(sha256sum <"$out/.$1.new") || return
    { awk -v name="$1" '$2 != name' "$sums"; echo "${sum%% *}  $1"; } | LC_ALL=C sort -k 2 >"$out/.SHA256SUMS.new" || return
    mv -f "$out/.$1.new" "$out/$1" && mv -f "$out/.SHA256SUMS.new" "$sums"
}

# The order, the owner, the modes and the time of what is packed are the same
# wherever that is done.
pack() { # FOLDER NAME SUFFIX COMPRESSOR...: the folder's NAME into out
    local folder=$1 name=$2 suffix=$3
    shift 3
    tar -C "$folder" --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go-w,a+rX \
        --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | "$@" >"$out/.$name.$suffix.new"
    # shellcheck disable=SC2320
    [ "${PIPESTATUS[*]}" = "0 0" ] && finish "$name.$suffix"
}

# The committed files and every crate of both workspaces, so that a build asks
# no network.
make_source() {
    source=$work/$(name_of src)
    # As it is committed, whatever this user's git makes of lines and modes.
    mkdir -p "$source" && git -c core.autocrlf=false -c core.attributesFile=/dev/null -c tar.umask=0022 archive HEAD |
        tar -C "$source" -xf - || return
    (cd "$source" && env -i "${clean[@]}" /usr/bin/cargo vendor --quiet --locked --versioned-dirs \
        --sync wrap/Cargo.toml vendor >/dev/null) || return
    mkdir "$source/.cargo" && cat >"$source/.cargo/config.toml" <<'CONFIG'
[source.crates-io]
replace-with = "vendor"

[source.vendor]
directory = "vendor"
CONFIG
}

pack_source() {
    say "packing the source"
    pack "$work" "$(name_of src)" tar.xz xz -T1 -6
}

# Where it is built: the source, and the crates of Rust's own library, which is
# built for machines that no compiler of Debian's has one for.
buildable() {
    tree=$work/tree
    [ ! -e "$tree" ] || return 0
    cp -a "$source" "$tree" || return
    for crate in /usr/lib/rustlib/src/rust/library/vendor/*/; do
        [ -e "$tree/vendor/${crate##*vendor/}" ] || cp -a "$crate" "$tree/vendor/" || return
    done
}

# The command for a machine, static: it runs with any C library, and with none.
build_command() { # TRIPLE COMPILER RECORDER FLAGS...: sets binary
    local triple=$1 compiler=$2 recorder=$3 upper flags encoded
    shift 3
    upper=${triple^^}
    flags=("$@" -Ctarget-feature=+crt-static "--remap-path-prefix=$tree=memlog"
        --remap-path-prefix=/usr/lib/rustlib/src/rust=rust)
    encoded=$(IFS=$'\x1f'; echo "${flags[*]}")
    (cd "$tree" && env -i "${alone[@]}" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$built" \
        ${recorder:+MEMLOG_RECORDER="$recorder"} "CC_${triple//-/_}=$compiler" "CARGO_TARGET_${upper//-/_}_LINKER=$compiler" \
        CARGO_ENCODED_RUSTFLAGS="$encoded" CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_STRIP=debuginfo \
        /usr/bin/cargo build --quiet --locked --offline --release -Zbuild-std=std,panic_abort --target "$triple" -p memlog) || return
    binary=$built/$triple/release/memlog
}

# For x86_64 the C library is musl, the smallest. Its compiler is gcc with other
# folders, and has no unwinder of its own.
build_x86_64() {
    local unwind=$work/unwind
    mkdir -p "$unwind" && musl-gcc -O2 -c "$source/scripts/packaging/unwind.c" -o "$unwind/unwind.o" &&
        ar rcsD "$unwind/libmemlog_unwind.a" "$unwind/unwind.o" &&
        echo 'INPUT(-lgcc_eh -lmemlog_unwind)' >"$unwind/libunwind.a" || return
    build_command x86_64-unknown-linux-musl musl-gcc '' \
        -Crelocation-model=static -Clink-self-contained=no "-Lnative=$unwind"
}

release_of() { # MACHINE
    # Not "machine": target_is sets that, to what file(1) calls it.
    local target=$1 binary='' runner='' recorder smaller
    buildable || return
    say "building for $target"
    if [ "$target" = x86_64 ]; then
        build_x86_64 && notices_for x86_64-unknown-linux-musl musl=/usr/share/doc/musl/copyright || return
    else
        # Packages may start servers, which live on.
        ci/packages "cross-$target-programs" 9<&- || return
        target_is "$target" || return
        recorder=$work/$target
        (cd "$tree" && env -i "${alone[@]}" CARGO_TARGET_DIR="$built/recorders" ppc64-cross/build "$target" "$recorder") || return
        # Where no program of its own can be loaded, nobody looks at logs either.
        if [ "$shared" = no ]; then
            notices_for "$triple" || return
            pack_recorder "$target" "$recorder"
            return
        fi
        # A call reaches 16 MB there. Behind that, GNU ld takes the functions that choose
        # glibc's memcpy for ARM code, which they are not: the program dies before main.
        smaller=()
        [ "$target" != armv7hf ] || smaller=(-Ctarget-feature=+thumb-mode)
        # Its terms want their own text, and that one may link with another: that is the source tar.
        build_command "$triple" "$compiler" "$recorder/lib" "${smaller[@]}" && notices_for "$triple" \
            "glibc, linked by scripts/release of $(name_of src).tar.xz=/usr/share/doc/libc6-dev/copyright" \
            "LGPL-2.1, which is glibc's=/usr/share/common-licenses/LGPL-2.1" || return
    fi
    file -b "$binary" | grep -q 'statically linked\|static-pie' || { say "$binary is not static"; return 1; }
    pack_machine "$target" "$binary" "$runner" && pack_deb "$target" "$binary" "$runner"
}

# With everything that make installs, and what one reads.
install_into() { # FOLDER PREFIX BINARY RUNNER
    env -i "${alone[@]}" make -s -C "$source/scripts" install MEMLOG="$3" RUNNER="$4" PREFIX="$2" DESTDIR="$1" >/dev/null
}

pack_machine() { # MACHINE BINARY RUNNER
    local name prefix=/opt/memlog-$version
    name=$(name_of "$1")
    install_into "$work/$name.stage" "$prefix" "$2" "$3" || return
    mv "$work/$name.stage$prefix" "$work/$name" && rm -rf "$work/$name.stage" || return
    documents_into "$work/$name" && cp -a "$source/scripts/packaging/install" "$work/$name/" &&
        sed "s/VERSION/$version/" "$source/scripts/packaging/INSTALL" >"$work/$name/INSTALL" || return
    pack "$work" "$name" tar.gz gzip -n -9
}

# What README names by where it lies: the documents, and the first example.
documents_into() { # FOLDER
    (cd "$source" && cp -aL README CHANGELOG LICENSE-* doc "$1/" && mkdir "$1/victims" && cp -a victims/server.c victims/victim.h "$1/victims/") &&
        cp -a "$work/NOTICES" "$1/"
}

# The terms of what is linked into it, which go with every copy.
notices_for() { # TRIPLE [LIBRARY...]: with a C library it is of the command
    local triple=$1
    shift
    env -i "${alone[@]}" "$source/scripts/packaging/notices" "$source" "$triple" \
        ${1:+"$built/$triple/release/deps"} "$@" >"$work/NOTICES"
}

pack_recorder() { # MACHINE FOLDER
    local name
    name=$(name_of "$1")
    mkdir -p "$work/$name/lib" "$work/$name/bin" "$work/$name/share/doc/memlog" || return
    mkdir "$work/$name/include" && (cd "$source/include" && cp -a memlog.h memlog.f90 memlog_fortran.c "$work/$name/include/") || return
    cp -a "$2"/lib/memlog_s* "$work/$name/lib/" && cp -a "$source/scripts/packaging/install" "$work/$name/" &&
        (cd "$source" && cp -a LICENSE-* CHANGELOG doc/HPC.md "$work/NOTICES" "$work/$name/share/doc/memlog/") || return
    sed -i "s|[^ ]*/memlog_s.a|/opt/memlog-$version/lib/memlog_s.a|" "$work/$name/lib/memlog_s_ld_cmds" "$work/$name/lib/memlog_s_cxx_ld_cmds" || return
    pack "$work" "$name" tar.gz gzip -n -9
}

# Debian's words for the machines.
debian_of() {
    case $1 in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    powerpc64le) echo ppc64el ;;
    powerpc64-linux) echo ppc64 ;;
    armv7hf) echo armhf ;;
    i686) echo i386 ;;
    *) echo "$1" ;;
    esac
}

pack_deb() { # MACHINE BINARY RUNNER
    local architecture stage doc size name
    architecture=$(debian_of "$1") stage=$work/deb
    name=memlog_${version}_$architecture.deb
    doc=$stage/usr/share/doc/memlog
    rm -rf "$stage" && install_into "$stage" /usr "$2" "$3" || return
    # The package system's own versions do what the module file does.
    rm -rf "$stage/usr/share/modulefiles" && mkdir -p "$doc" "$stage/DEBIAN" || return
    # Where Debian's zsh looks for what packages bring.
    mv "$stage/usr/share/zsh/site-functions" "$stage/usr/share/zsh/vendor-completions" || return
    find "$stage/usr/share/man" -type f -exec gzip -n -9 {} + || return
    documents_into "$doc" && gzip -n -9 "$doc/CHANGELOG" && mv "$doc/CHANGELOG.gz" "$doc/changelog.gz" || return
    { echo 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/'
      echo 'Comment: What the binaries contain of others, and its terms, stands in NOTICES'
      printf ' beside this file.\n\nFiles: *\nCopyright: '
      sed -n 's/^Copyright (c) //p' "$source/LICENSE-MIT"
      printf 'License: Expat or Apache-2.0\n\nLicense: Expat\n'
      sed '1,/^Copyright/d' "$source/LICENSE-MIT" | sed '1{/^$/d}; s/^$/./; s/^/ /'
      printf '\nLicense: Apache-2.0\n On Debian systems its text is in /usr/share/common-licenses/Apache-2.0.\n'; } >"$doc/copyright" || return
    # Not as du has it: folders are of another size on another disk.
    size=$(find "$stage/usr" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum + 0 }')
    sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/" "$source/scripts/packaging/control" >"$stage/DEBIAN/control" &&
        (cd "$stage" && find usr -type f | LC_ALL=C sort | xargs -d '\n' md5sum >DEBIAN/md5sums) &&
        chmod -R u+w,go-w,a+rX "$stage" &&
        dpkg-deb --root-owner-group -Zxz --build "$stage" "$out/.$name.new" >/dev/null && finish "$name"
}

make_recipes() {
    local name sum
    name=$(name_of recipes)
    sum=$(sha256sum "$out/$(name_of src).tar.xz") && sum=${sum%% *} || return
    mkdir -p "$work/$name/spack_repo/memlog/packages/memlog" "$work/$name/easybuild" || return
    cp "$source/scripts/packaging/repo.yaml" "$work/$name/spack_repo/memlog/" || return
    sed "s/@VERSION@/$version/g; s/@SHA256@/$sum/g" "$source/scripts/packaging/package.py" >"$work/$name/spack_repo/memlog/packages/memlog/package.py" &&
        sed "s/@VERSION@/$version/g; s/@SHA256@/$sum/g" "$source/scripts/packaging/memlog.eb" >"$work/$name/easybuild/memlog-$version.eb" || return
    pack "$work" "$name" tar.gz gzip -n -9
}
