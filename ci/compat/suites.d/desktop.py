"""Programs with a window, without one: browsers, an office, pictures, films, pages."""

from steps import program

PAGE = "<html><body><script>let a=[];for(let i=0;i<20000;i++){let d=document.createElement('p');d.textContent='n'+i*7919%65537;a.push(d);if(i<300)document.body.appendChild(d)};document.title='t'+a.length</script></body></html>"
ROWS = "".join(f"{n},{n * 7919 % 65537},word {n}\n" for n in range(3000))
DOT = "digraph{" + "".join(f"n{n * 7919 % 211}->n{n * 31 % 211};" for n in range(500)) + "}"
PLOT = "set term svg; set output 'p.svg'; plot sin(x), [0:10] x**2, 'rows' using 1:2 with lines\n"
PACKAGES = "others-desktop"
# They say what differs each time.
ALL = r"[\s\S]+"
# What a browser's children are is its own affair, and it ends them by signals.
CHROMIUM = "chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split()

SUITES = [
    program("desktop.chromium", PACKAGES, [*CHROMIUM, "--user-data-dir=u", "--screenshot=a.png", "page.html"], files={"page.html": PAGE}, makes=["a.png"],
            without=ALL, version=["dpkg-query", "-Wf", "chromium ${Version}", "chromium"], images={"chromium": 3}, kills=True),
    program("desktop.firefox", PACKAGES, ["firefox-esr", "--headless", "--profile", "p", "--screenshot", "a.png", "file:///usr/share/common-licenses/GPL-3"], files={"p/user.js": ""},
            makes=["a.png"], without=ALL, version=["firefox-esr", "--version"], images={"firefox-esr": 2}, kills=True),
    program("desktop.office", PACKAGES, ["soffice", "-env:UserInstallation=file:///tmp/memlog-office", "--headless", "--convert-to", "pdf", "a.csv"], files={"a.csv": ROWS},
            makes=["a.pdf"], without=ALL, version=["soffice", "--version"], images={"soffice.bin": 1}),
    program("desktop.magick", PACKAGES, ["/usr/bin/convert", "-size", "800x600", "plasma:red-blue", "-seed", "7", "-blur", "0x3", "-resize", "50%", "a.png"], ["/usr/bin/identify", "a.png"],
            makes=["a.png"], without=r"[\d.]+(?:B|KB|KiB|u|s)\b.*", version=["/usr/bin/convert", "--version"]),
    program("desktop.ffmpeg", PACKAGES, ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=d=2:r=15", "-threads", "4", "-c:v", "mpeg4", "a.avi"],
            ["ffprobe", "-v", "error", "-show_entries", "format=duration,nb_streams", "a.avi"], makes=["a.avi"], version=["ffmpeg", "-version"], images={"ffmpeg": 1}),
    program("desktop.ghostscript", PACKAGES, ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=png16m", "-o", "a.png", "a.ps"], makes=["a.png"],
            files={"a.ps": "%!\n/Helvetica findfont 20 scalefont setfont 0 1 200 { dup 3 mul exch 4 mul moveto (words) show } for showpage\n"}, version=["gs", "--version"], images={"gs": 1}),
    program("desktop.graphviz", PACKAGES, ["dot", "-Tsvg", "-o", "a.svg", "a.dot"], ["neato", "-Tpdf", "-o", "a.pdf", "a.dot"], files={"a.dot": DOT}, makes=["a.svg", "a.pdf"], version=["dot", "-V"]),
    program("desktop.gnuplot", PACKAGES, ["gnuplot", "p"], files={"p": PLOT, "rows": ROWS.replace(",", " ")}, makes=["p.svg"], version=["gnuplot", "--version"]),
    program("desktop.vim", PACKAGES, ["vim", "-u", "NONE", "-es", "-c", "%s/word/other/g", "-c", "w! b", "-c", "qa!", "rows"], ["sha256sum", "b"], files={"rows": ROWS}, version=["vim", "--version"]),
]
