//! The three pictures: by Graphviz where it is there, else by memlog itself.

use memlog_export::Graph;

use crate::args::Draw;
use crate::graphviz::{Failure, convert};
use crate::{Trouble, builtin};

const PS: &[u8] = b"%!PS";
const PDF: &[u8] = b"%PDF-";
const SVG: &[u8] = b"<?xml";

/// One picture in three forms.
pub(crate) struct Drawings {
    pub(crate) ps: Vec<u8>,
    pub(crate) pdf: Vec<u8>,
    pub(crate) svg: Vec<u8>,
    /// What Graphviz did not do, in sentences.
    pub(crate) remarks: Vec<String>,
}

impl Drawings {
    pub(crate) fn make(graph: &Graph, dot: &str, draw: Draw) -> anyhow::Result<Self> {
        if draw == Draw::BuiltIn {
            return Ok(builtin::draw(graph));
        }
        match (by_graphviz(dot), draw) {
            (Ok(drawings), _) => Ok(drawings),
            (Err(failure), Draw::Graphviz) => Err(refusal(&failure)),
            (Err(Failure::Absent), _) => Ok(builtin::draw(graph)),
            (Err(why), _) => Ok(Self {
                remarks: vec![format!("dot {why}; memlog drew the picture itself")],
                ..builtin::draw(graph)
            }),
        }
    }
}

/// For a font that is named alone Graphviz goes by a table of its own, and
/// where Helvetica is not installed it draws another than the boxes were made
/// for. Of a list it asks the system, once for both.
const FONT: (&str, &str) = (
    "fontname=\"Helvetica\"",
    "fontname=\"Helvetica,Arial,sans-serif\"",
);
/// In its own size: dot rounds the scale of a page to two digits, and what does
/// not fit is cut off.
const OWN_SIZE: &str = "-Gsize=";
/// Inches: the largest page that readers of PDF show.
const LARGEST_PAGE: &str = "-Gsize=200,200";

fn by_graphviz(dot: &str) -> Result<Drawings, Failure> {
    let fonts = dot.replace(FONT.0, FONT.1);
    let form = |form: &'static [&str], magic| {
        let fonts = fonts.as_bytes();
        move || convert("dot", form, fonts, magic)
    };
    let (ps, pdf, svg) = std::thread::scope(|scope| {
        let pdf = scope.spawn(form(&["-Tpdf", LARGEST_PAGE], PDF));
        let svg = scope.spawn(form(&["-Tsvg", OWN_SIZE], SVG));
        let ps = form(&["-Tps:cairo"], PS)();
        (ps, joined(pdf.join()), joined(svg.join()))
    });
    // Some builds of Graphviz lack the library for PDF, and draw text themselves;
    // to those a font is one name.
    let ps = match ps {
        Err(Failure::Failed(_)) => convert("dot", &["-Tps2"], dot.as_bytes(), PS),
        ps => ps,
    }?;
    let pdf = pdf.or_else(|_| convert("ps2pdf", &["-", "-"], &ps, PDF));
    Ok(Drawings {
        pdf: pdf.map_err(|failure| match failure {
            Failure::Absent => Failure::Failed("makes no PDF, and there is no ps2pdf".into()),
            failed => failed,
        })?,
        ps,
        svg: svg?,
        remarks: Vec::new(),
    })
}

type Picture = Result<Vec<u8>, Failure>;

fn joined(result: std::thread::Result<Picture>) -> Picture {
    result.unwrap_or_else(|_| Err(Failure::Failed("could not be waited for".into())))
}

fn refusal(failure: &Failure) -> anyhow::Error {
    match failure {
        Failure::Absent => Trouble::error(
            "--draw graphviz needs the program dot, which is not in PATH",
            "install graphviz, or leave --draw out: memlog draws by itself",
        ),
        why => Trouble::error(
            format!("dot {why}"),
            "leave --draw out: memlog draws by itself; or show less with -t 5",
        ),
    }
}
