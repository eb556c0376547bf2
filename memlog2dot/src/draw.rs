//! The pictures: by memlog itself, or by Graphviz where that is asked for.

use memlog_export::Graph;
use memlog_export::draw::Paper;
use memlog_pages::Advice;

use crate::args::{Draw, Format};
use crate::builtin;
use crate::graphviz::{Failure, convert};

const PS: &[u8] = b"%!PS";
const PDF: &[u8] = b"%PDF-";
const SVG: &[u8] = b"<?xml";

/// One picture, in the forms that are wanted.
pub(crate) struct Drawings {
    pub(crate) drawn: Vec<(Format, Vec<u8>)>,
    /// What is to be known of it, in sentences.
    pub(crate) remarks: Vec<String>,
}

impl Drawings {
    /// Of a graph and the same in Graphviz's language.
    pub(crate) fn make(
        (graph, dot): (&Graph, &str),
        draw: Draw,
        formats: &[Format],
        paper: Paper,
    ) -> anyhow::Result<Self> {
        let built_in = || builtin::draw(graph, formats, paper);
        if draw == Draw::BuiltIn {
            return Ok(built_in());
        }
        match (by_graphviz(dot, formats, paper), draw) {
            (Ok(drawings), _) => Ok(drawings),
            (Err(failure), Draw::Graphviz) => Err(refusal(&failure)),
            (Err(Failure::Absent), _) => Ok(built_in()),
            (Err(why), _) => {
                let mut drawings = built_in();
                let why = format!("dot {why}; memlog drew the picture itself");
                drawings.remarks.insert(0, why);
                Ok(drawings)
            }
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
/// In its own size, which the window makes smaller.
const OWN_SIZE: &str = "-Gsize=";
const SVG_START: &str = "<svg ";
const SVG_AS_WIDE_AS_WINDOW: &str = "<svg style=\"max-width:100%;height:auto\" ";
/// What dot leaves white, in points.
const MARGINS: f64 = 72.0;
/// Of the rest: dot rounds the scale of a page to two digits, and what does not
/// fit is cut off.
const INSIDE: f64 = 0.97;

fn by_graphviz(dot: &str, formats: &[Format], paper: Paper) -> Result<Drawings, Failure> {
    let fonts = dot.replace(FONT.0, FONT.1);
    let (width, height) = paper.points();
    let inches = |points: f64| (points - MARGINS) / 72.0 * INSIDE;
    let page = format!("-Gsize={:.2},{:.2}", inches(width), inches(height));
    let has = |format| formats.contains(&format);
    let (ps, pdf, svg) = std::thread::scope(|scope| {
        let dot = |form: &'static str, size: &str, magic| {
            let (fonts, size) = (fonts.as_bytes(), size.to_owned());
            move || convert("dot", &[form, &size], fonts, magic)
        };
        let pdf = has(Format::Pdf).then(|| scope.spawn(dot("-Tpdf", &page, PDF)));
        let svg = has(Format::Svg).then(|| scope.spawn(dot("-Tsvg", OWN_SIZE, SVG)));
        // Where there is no PDF, ps2pdf makes it from this.
        let wants_ps = has(Format::Ps) || has(Format::Pdf);
        let ps = wants_ps.then(|| dot("-Tps:cairo", &page, PS)());
        (
            ps,
            pdf.map(|pdf| joined(pdf.join())),
            svg.map(|svg| joined(svg.join())),
        )
    });
    // Some builds of Graphviz lack the library for PDF, and draw text themselves;
    // to those a font is one name.
    let ps = ps.map(|ps| match ps {
        Err(Failure::Failed(_)) => convert("dot", &["-Tps2", &page], dot.as_bytes(), PS),
        ps => ps,
    });
    let ps = ps.transpose()?;
    let pdf = pdf.map(|pdf| {
        let from_ps = |_| {
            convert(
                "ps2pdf",
                &["-", "-"],
                ps.as_deref().unwrap_or_default(),
                PDF,
            )
        };
        pdf.or_else(from_ps).map_err(|failure| match failure {
            Failure::Absent => Failure::Failed("makes no PDF, and there is no ps2pdf".into()),
            failed => failed,
        })
    });
    let by_format = [
        (Format::Ps, ps.filter(|_| has(Format::Ps))),
        (Format::Pdf, pdf.transpose()?),
        (Format::Svg, svg.transpose()?.map(as_wide_as_window)),
    ];
    let by_format = by_format.into_iter();
    Ok(Drawings {
        drawn: by_format
            .filter_map(|(format, bytes)| Some((format, bytes?)))
            .collect(),
        remarks: Vec::new(),
    })
}

/// What is no text is left as it is.
fn as_wide_as_window(svg: Vec<u8>) -> Vec<u8> {
    match String::from_utf8(svg) {
        Ok(svg) => svg
            .replacen(SVG_START, SVG_AS_WIDE_AS_WINDOW, 1)
            .into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

type Picture = Result<Vec<u8>, Failure>;

fn joined(result: std::thread::Result<Picture>) -> Picture {
    result.unwrap_or_else(|_| Err(Failure::Failed("could not be waited for".into())))
}

fn refusal(failure: &Failure) -> anyhow::Error {
    match failure {
        Failure::Absent => Advice::error(
            "--draw graphviz needs the program dot, which is not in PATH",
            "install graphviz, or leave --draw out: memlog draws by itself",
        ),
        why => Advice::error(
            format!("dot {why}"),
            "leave --draw out: memlog draws by itself; or show less with -t 5",
        ),
    }
}
