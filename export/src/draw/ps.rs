//! PostScript: one sheet of paper; what lies is turned on an upright one, as
//! printers take it.

use std::fmt::{self, Write};

use super::page::{Fit, Paper};
use super::scene::{self, Colour, Shape};
use super::{Short, title};
use crate::graph::Graph;
use crate::layout::{Line, Placed, Point, fonts};

const MOST_ON_A_LINE: usize = 60;
const MOST_IN_A_COMMENT: usize = 200;

/// Fonts in code page 1252, and short names for what is drawn.
const PROLOG: &str = r"%%BeginProlog
/Codes ISOLatin1Encoding dup length array copy def
[39 /quotesingle 45 /hyphen 96 /grave 128 /Euro 130 /quotesinglbase
131 /florin 132 /quotedblbase 133 /ellipsis 134 /dagger 135 /daggerdbl
136 /circumflex 137 /perthousand 138 /Scaron 139 /guilsinglleft 140 /OE
142 /Zcaron 145 /quoteleft 146 /quoteright 147 /quotedblleft
148 /quotedblright 149 /bullet 150 /endash 151 /emdash 152 /tilde
153 /trademark 154 /scaron 155 /guilsinglright 156 /oe 158 /zcaron
159 /Ydieresis] aload length 2 idiv { Codes 3 1 roll put } repeat
/recode { findfont dup length dict begin
{ 1 index /FID ne { def } { pop pop } ifelse } forall
/Encoding Codes def currentdict end definefont pop } bind def
/Text /Helvetica recode
/TextBold /Helvetica-Bold recode
/F { findfont exch dup neg matrix scale makefont setfont } bind def
/T { moveto show } bind def
/M { moveto } bind def
/C { curveto } bind def
/S { setrgbcolor setlinewidth stroke } bind def
/H { setrgbcolor moveto lineto lineto closepath fill } bind def
/B { 4 2 roll moveto 1 index 0 rlineto 0 exch rlineto neg 0 rlineto closepath } bind def
/P { gsave setrgbcolor fill grestore S } bind def
%%EndProlog
";

/// The picture as PostScript.
pub fn ps(graph: &Graph, placed: &Placed, paper: Paper) -> Vec<u8> {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, graph, placed, paper);
    out.into_bytes()
}

fn write(out: &mut String, graph: &Graph, placed: &Placed, paper: Paper) -> fmt::Result {
    let fit = Fit::of(placed, paper);
    let (width, height) = paper.points();
    let orientation = if fit.is_landscape {
        "Landscape"
    } else {
        "Portrait"
    };
    // On the upright sheet, from its lower left corner.
    let [left, bottom, right, top] = match fit.is_landscape {
        true => [
            fit.top,
            fit.left,
            fit.top + fit.height,
            fit.left + fit.width,
        ],
        false => [
            fit.left,
            height - fit.top - fit.height,
            fit.left + fit.width,
            height - fit.top,
        ],
    };
    let bounds = format!(
        "{} {} {} {}",
        left.floor(),
        bottom.floor(),
        right.ceil(),
        top.ceil()
    );
    writeln!(out, "%!PS-Adobe-3.0")?;
    writeln!(out, "%%Creator: memlog")?;
    writeln!(out, "%%Title: {}", commented(&title(graph)))?;
    writeln!(out, "%%LanguageLevel: 2\n%%Pages: 1\n%%PageOrder: Ascend")?;
    writeln!(out, "%%Orientation: {orientation}\n%%BoundingBox: {bounds}")?;
    writeln!(out, "%%DocumentMedia: Page {width} {height} 0 () ()")?;
    writeln!(
        out,
        "%%DocumentNeededResources: font Helvetica Helvetica-Bold"
    )?;
    writeln!(out, "%%EndComments\n{PROLOG}%%Page: 1 1")?;
    writeln!(
        out,
        "%%PageOrientation: {orientation}\n%%PageBoundingBox: {bounds}"
    )?;
    writeln!(
        out,
        "%%BeginPageSetup\n<< /PageSize [{width} {height}] >> setpagedevice\n%%EndPageSetup"
    )?;
    // From here on y grows downwards, as in the picture.
    writeln!(out, "gsave")?;
    if fit.is_landscape {
        writeln!(out, "{} {} translate 90 rotate", Short(left), Short(bottom))?;
    } else {
        writeln!(out, "{} {} translate", Short(left), Short(top))?;
    }
    writeln!(out, "{:.6} dup neg scale", fit.scale)?;
    for shape in scene::shapes(graph, placed) {
        write_shape(out, &shape)?;
    }
    out.write_str("grestore\nshowpage\n%%PageTrailer\n%%Trailer\n%%EOF\n")
}

fn write_shape(out: &mut String, shape: &Shape) -> fmt::Result {
    match shape {
        Shape::Begin(_) | Shape::End => Ok(()),
        Shape::Box {
            rect,
            fill,
            border,
            border_width,
        } => {
            let corner = Point {
                x: rect.left,
                y: rect.top,
            };
            writeln!(
                out,
                "{} {} {} B",
                Pair(&corner),
                Short(rect.width()),
                Short(rect.height())
            )?;
            writeln!(
                out,
                "{} {} {} P",
                Short(*border_width),
                Rgb(*border),
                Rgb(*fill)
            )
        }
        Shape::Curve {
            points,
            colour,
            width,
            dash,
        } => {
            let Some((start, rest)) = points.split_first() else {
                return Ok(());
            };
            writeln!(out, "{} M", Pair(start))?;
            for [a, b, c] in rest.as_chunks::<3>().0 {
                writeln!(out, "{} {} {} C", Pair(a), Pair(b), Pair(c))?;
            }
            let stroke = format!("{} {} S", Short(*width), Rgb(*colour));
            match dash {
                Some((dash, gap)) => {
                    let (dash, gap) = (Short(*dash), Short(*gap));
                    writeln!(out, "[{dash} {gap}] 0 setdash {stroke} [] 0 setdash")
                }
                None => writeln!(out, "{stroke}"),
            }
        }
        Shape::Head { corners, colour } => {
            let [tip, left, right] = corners.each_ref().map(Pair);
            writeln!(out, "{tip} {left} {right} {} H", Rgb(*colour))
        }
        Shape::Text(line) => write_text(out, line),
    }
}

fn write_text(out: &mut String, line: &Line) -> fmt::Result {
    let font = if line.bold { "/TextBold" } else { "/Text" };
    writeln!(out, "0 0 0 setrgbcolor {} {font} F", Short(line.size))?;
    writeln!(out, "({}) {} T", Escaped(&line.text), Pair(&line.start))
}

/// A comment has no escapes and cannot go on on the next line; one that begins
/// with a bracket would be taken for a string.
fn commented(title: &str) -> String {
    let shown = |c: char| if c.is_ascii() { c } else { '?' };
    let title = title.trim_start_matches('(').chars().map(shown);
    title.take(MOST_IN_A_COMMENT).collect()
}

struct Pair<'a>(&'a Point);

impl fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {}", Short(self.0.x), Short(self.0.y))
    }
}

struct Rgb(Colour);

impl fmt::Display for Rgb {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let [red, green, blue] = self.0.0.map(|part| Short(f64::from(part) / 255.0));
        write!(f, "{red} {green} {blue}")
    }
}

/// In code page 1252, what is not ASCII in octal. A line of the file has 255
/// characters at most, and in a string a backslash hides its end. No line but a
/// comment begins with a percent sign, even within a string: spoolers look for
/// comments without knowing strings.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (at, c) in self.0.chars().enumerate() {
            let starts_line = at > 0 && at.is_multiple_of(MOST_ON_A_LINE);
            if starts_line {
                f.write_str("\\\n")?;
            }
            match fonts::code_of(c).unwrap_or(b'?') {
                code @ (b'(' | b')' | b'\\') => write!(f, "\\{}", char::from(code))?,
                b'%' if starts_line => f.write_str("\\045")?,
                code @ 0x20..=0x7E => f.write_char(char::from(code))?,
                code => write!(f, "\\{code:03o}")?,
            }
        }
        Ok(())
    }
}
