"""Interpreters and run-time compilers: something of each that allocates, and says what came of it."""

from steps import program

WORK = {
    "R": "x <- sapply(1:2000, function(i) paste(rep(letters[i %% 26 + 1], i), collapse='')); m <- matrix(as.numeric(1:90000), 300); cat(sum(nchar(x)), sum(m %*% m), length(unique(x)), '\\n')",
    "ruby": "h = Hash.new { |a, k| a[k] = [] }; 1.upto(100000) { |i| h[i % 997] << i.to_s * 3 }; puts h.values.map { |v| v.join.size }.sum; t = 4.times.map { |n| Thread.new { (1..20000).map { |i| 'x' * (i % 100) }.sum(&:size) } }; p t.map(&:value)",
    "lua": "local t = {} for i = 1, 200000 do t[i] = ('v'):rep(i % 50) .. i end local n = 0 for _, s in ipairs(t) do n = n + #s end print(n) t = nil collectgarbage() print(#table.concat({1, 2}))",
    "guile": "(define v (let loop ((i 0) (l '())) (if (= i 200000) l (loop (+ i 1) (cons (number->string i 16) l))))) (display (apply + (map string-length v))) (newline)",
    "ocaml": "let () = let h = Hashtbl.create 7 in for i = 1 to 200000 do Hashtbl.replace h (string_of_int (i * 7919 mod 65537)) (String.make (i mod 60) 'x') done; print_int (Hashtbl.fold (fun k v n -> n + String.length k + String.length v) h 0)",
    "sbcl": "(let ((h (make-hash-table :test 'equal))) (dotimes (i 200000) (setf (gethash (format nil \"~x\" (mod (* i 7919) 65537)) h) (make-string (mod i 60)))) (print (hash-table-count h)))",
    "octave": "a = magic(200); c = cell(1, 2000); for i = 1:2000, c{i} = repmat('x', 1, i); end; printf('%d %d %g\\n', numel(strjoin(c, '')), rank(a(1:20, 1:20)), sum(sum(a * a)));",
    "tcl": "for {set i 0} {$i < 100000} {incr i} { dict set d [format %x [expr {$i * 7919 % 65537}]] [string repeat x [expr {$i % 60}]] }; puts [dict size $d]; puts [string length [join [dict values $d] {}]]",
    "php": "$a = []; for ($i = 0; $i < 200000; $i++) $a[dechex($i * 7919 % 65537)] = str_repeat('x', $i % 60); ksort($a); echo count($a), ' ', strlen(json_encode($a)), ' ', strlen(gzcompress(implode($a))), ' ', count(simplexml_load_string('<a>' . str_repeat('<b/>', 1000) . '</a>')->b), \"\\n\";",
    "erlang": "M = maps:from_list([{integer_to_list(I * 7919 rem 65537), lists:duplicate(I rem 60, $x)} || I <- lists:seq(1, 100000)]), io:format(\"~p ~p~n\", [maps:size(M), erlang:phash2(M)]), Me = self(), [spawn(fun() -> Me ! {N, length(lists:seq(1, N * 1000))} end) || N <- lists:seq(1, 20)], io:format(\"~p~n\", [lists:sum([receive {N, L} -> L end || N <- lists:seq(1, 20)])]), halt().",
    "prolog": "numlist(1, 100000, L), findall(X, (member(Y, L), X is Y * 7919 mod 65537), Xs), sort(Xs, S), length(S, N), atomic_list_concat(L, ',', A), atom_length(A, K), print(N-K), nl, halt.",
    "python": "import json, re, sqlite3, threading, zlib\nd = {f'{i * 7919 % 65537:x}': 'x' * (i % 60) for i in range(200000)}\nprint(len(d), len(json.dumps(d)), len(zlib.compress(json.dumps(d).encode())))\nt = [threading.Thread(target=lambda: [bytearray(n) for n in range(5000)]) for _ in range(8)]\n[x.start() for x in t]; [x.join() for x in t]\nprint(len(re.findall('[a-f]+', ' '.join(d))))",
    "numpy": "import numpy as n\na = n.arange(1e6).reshape(1000, 1000)\nprint((a @ a.T).sum(), n.sort(a.ravel()[::-1])[77], n.linalg.matrix_rank(a[:50, :50]), n.fft.fft(a[0]).real.sum().round(3))",
    "mono": 'using System; using System.Collections.Generic; using System.Threading.Tasks; class P { static void Main() { var d = new Dictionary<string, string>(); for (int i = 0; i < 200000; i++) d[(i * 7919L % 65537).ToString("x")] = new string(\'x\', i % 60); int n = 0; foreach (var v in d.Values) n += v.Length; Console.WriteLine(d.Count + " " + n); Parallel.For(0, 8, k => { var l = new List<byte[]>(); for (int i = 0; i < 2000; i++) l.Add(new byte[i]); }); Console.WriteLine("done"); } }',
    "emacs": "(let ((h (make-hash-table :test 'equal))) (dotimes (i 100000) (puthash (format \"%x\" (% (* i 7919) 65537)) (make-string (% i 60) ?x) h)) (princ (hash-table-count h)))",
}
HASKELL = 'import qualified Data.Map as M\nmain = do\n  let m = M.fromList [(show (i * 7919 `mod` 65537), replicate (i `mod` 60) \'x\') | i <- [1 .. 100000 :: Int]]\n  print (M.size m, sum (map length (M.elems m)))\n'
MARKDOWN = "".join(f"# Part {n}\n\nSome *words* and `code` {n}.\n\n| a | b |\n|---|---|\n| {n} | x |\n\n- one\n- two\n\n" for n in range(300))
PACKAGES = "others-languages"

SUITES = [
    program("languages.r", PACKAGES, ["Rscript", "-e", WORK["R"]], version=["R", "--version"], images={"R": 1}),
    program("languages.ruby", PACKAGES, ["ruby", "-e", WORK["ruby"]], version=["ruby", "--version"]),
    program("languages.lua", PACKAGES, ["lua5.4", "-e", WORK["lua"]], version=["lua5.4", "-v"], images={"lua5.4": 1}),
    program("languages.guile", PACKAGES, ["guile", "--no-auto-compile", "-c", WORK["guile"]], version=["guile", "--version"]),
    program("languages.ocaml", PACKAGES, ["ocaml", "p.ml"], ["ocamlfind", "ocamlopt", "-o", "p", "p.ml"], ["./p"], files={"p.ml": WORK["ocaml"]}, version=["ocaml", "-version"]),
    program("languages.sbcl", PACKAGES, ["sbcl", "--noinform", "--non-interactive", "--eval", WORK["sbcl"]], version=["sbcl", "--version"], images={"sbcl": 1}),
    program("languages.octave", PACKAGES, ["octave-cli", "--no-gui", "--eval", WORK["octave"]], version=["octave-cli", "--version"]),
    program("languages.tcl", PACKAGES, ["tclsh"], feed=WORK["tcl"], version=["dpkg-query", "-Wf", "tcl ${Version}", "tcl"]),
    program("languages.php", PACKAGES, ["php", "-r", WORK["php"]], version=["php", "--version"]),
    program("languages.erlang", PACKAGES, ["erl", "-noshell", "-eval", WORK["erlang"]], version=["dpkg-query", "-Wf", "erlang-base ${Version}", "erlang-base"], images={"beam.smp": 1}),
    program("languages.prolog", PACKAGES, ["swipl", "-g", WORK["prolog"], "-t", "halt(1)"], version=["swipl", "--version"], images={"swipl": 1}),
    program("languages.python", PACKAGES, ["/usr/bin/python3", "-c", WORK["python"]], version=["/usr/bin/python3", "--version"], images={"python3.11": 1}),
    program("languages.numpy", PACKAGES, ["/usr/bin/python3", "-c", WORK["numpy"]], version=["/usr/bin/python3", "-c", "import numpy; print('numpy', numpy.__version__)"]),
    program("languages.mono", PACKAGES, ["mcs", "p.cs"], ["mono", "p.exe"], files={"p.cs": WORK["mono"]}, version=["mono", "--version"]),
    program("languages.emacs", PACKAGES, ["emacs", "--batch", "--eval", WORK["emacs"]], version=["emacs", "--version"]),
    program("languages.haskell", PACKAGES, ["ghc", "-O", "-v0", "p.hs"], ["./p"], files={"p.hs": HASKELL}, version=["ghc", "--version"]),
    program("languages.pandoc", PACKAGES, ["pandoc", "-t", "html", "a.md"], ["pandoc", "-t", "docx", "-o", "a.docx", "a.md"], files={"a.md": MARKDOWN},
            makes=["a.docx"], version=["pandoc", "--version"], images={"pandoc": 2}),
]
