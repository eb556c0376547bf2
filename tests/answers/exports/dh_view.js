// What: what DHAT's own page makes of a file: sums over its root, and how many places it has.
// Run:  node dh_view.js DH_VIEW.js FILE
const fs = require("fs");
const vm = require("vm");
const [page, file] = process.argv.slice(2);
const script = fs.readFileSync(page, "utf8") + `
gSelect = { childNodes: gSelectData.map(() => ({})), selectedIndex: 0 };
gData = JSON.parse(file);
buildTree();
({ tb: gRoot._totalBytes, tbk: gRoot._totalBlocks, tl: gRoot._totalLifetimes,
   gb: gRoot._atTGmaxBytes, gbk: gRoot._atTGmaxBlocks, eb: gRoot._atTEndBytes, ebk: gRoot._atTEndBlocks });
`;
const context = vm.createContext({ document: { title: "" }, file: fs.readFileSync(file, "utf8"), Intl });
console.log(JSON.stringify(vm.runInContext(script, context)));
