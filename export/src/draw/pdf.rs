//! PDF: one sheet of paper, upright or lying.

use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use super::page::{Fit, Paper};
use super::scene::{self, BLACK, Colour, Shape};
use super::title;
use crate::graph::Graph;
use crate::layout::{Line, Placed, Point, fonts};

const COMPRESSION: u8 = 6;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const REGULAR: Ref = Ref::new(5);
const BOLD: Ref = Ref::new(6);
const INFO: Ref = Ref::new(7);

/// The picture as PDF.
pub fn pdf(graph: &Graph, placed: &Placed, paper: Paper) -> Vec<u8> {
    let fit = Fit::of(placed, paper);
    let (width, height) = (fit.page.0 as f32, fit.page.1 as f32);
    let title = title(graph);

    let mut pdf = Pdf::new();
    let mut catalog = pdf.catalog(CATALOG);
    catalog.pages(PAGES);
    catalog.viewer_preferences().display_doc_title(true);
    catalog.finish();
    pdf.pages(PAGES).kids([PAGE]).count(1);
    let mut page = pdf.page(PAGE);
    page.parent(PAGES).contents(CONTENT);
    page.media_box(Rect::new(0.0, 0.0, width, height));
    page.resources()
        .fonts()
        .pair(Name(b"R"), REGULAR)
        .pair(Name(b"B"), BOLD);
    page.finish();
    for (font, name) in [(REGULAR, "Helvetica"), (BOLD, "Helvetica-Bold")] {
        let mut font = pdf.type1_font(font);
        font.base_font(Name(name.as_bytes()));
        font.encoding_predefined(Name(b"WinAnsiEncoding"));
    }
    // The letters stand on their heads in a picture whose y grows downwards, so
    // each line of text is turned back.
    let (scale, left, top) = (fit.scale as f32, fit.left as f32, fit.top as f32);
    let mut content = Content::new();
    content.transform([scale, 0.0, 0.0, -scale, left, height - top]);
    content.set_line_cap(LineCapStyle::ButtCap);
    content.set_line_join(LineJoinStyle::MiterJoin);
    for shape in scene::shapes(graph, placed) {
        write_shape(&mut content, &shape);
    }
    let content = compress_to_vec_zlib(&content.finish(), COMPRESSION);
    pdf.stream(CONTENT, &content).filter(Filter::FlateDecode);
    pdf.document_info(INFO)
        .title(TextStr(&title))
        .creator(TextStr("memlog"));
    pdf.finish()
}

fn write_shape(content: &mut Content, shape: &Shape) {
    match shape {
        Shape::Begin(_) | Shape::End => {}
        Shape::Box {
            rect,
            fill,
            border,
            border_width,
        } => {
            set_fill(content, *fill);
            set_stroke(content, *border, *border_width);
            let [left, top] = [short(rect.left), short(rect.top)];
            content.rect(left, top, short(rect.width()), short(rect.height()));
            content.fill_nonzero_and_stroke();
        }
        Shape::Curve {
            points,
            colour,
            width,
            dash,
        } => {
            let Some((start, rest)) = points.split_first() else {
                return;
            };
            set_stroke(content, *colour, *width);
            content.move_to(short(start.x), short(start.y));
            for curve in rest.as_chunks::<3>().0 {
                let [a, b, c] = curve.map(|Point { x, y }| (short(x), short(y)));
                content.cubic_to(a.0, a.1, b.0, b.1, c.0, c.1);
            }
            if let Some((dash, gap)) = dash {
                content.set_dash_pattern([short(*dash), short(*gap)], 0.0);
            }
            content.stroke();
            if dash.is_some() {
                content.set_dash_pattern([], 0.0);
            }
        }
        Shape::Head { corners, colour } => {
            let [tip, left, right] = corners.map(|Point { x, y }| (short(x), short(y)));
            set_fill(content, *colour);
            content
                .move_to(tip.0, tip.1)
                .line_to(left.0, left.1)
                .line_to(right.0, right.1);
            content.close_path().fill_nonzero();
        }
        Shape::Text(line) => write_text(content, line),
    }
}

fn write_text(content: &mut Content, line: &Line) {
    let font = Name(if line.bold { b"B" } else { b"R" });
    let codes = line.text.chars().map(|c| fonts::code_of(c).unwrap_or(b'?'));
    let codes: Vec<u8> = codes.collect();
    set_fill(content, BLACK);
    content.begin_text();
    content.set_font(font, short(line.size));
    content.set_text_matrix([
        1.0,
        0.0,
        0.0,
        -1.0,
        short(line.start.x),
        short(line.start.y),
    ]);
    content.show(Str(&codes));
    content.end_text();
}

fn set_fill(content: &mut Content, colour: Colour) {
    let [red, green, blue] = parts(colour);
    content.set_fill_rgb(red, green, blue);
}

fn set_stroke(content: &mut Content, colour: Colour, width: f64) {
    let [red, green, blue] = parts(colour);
    content.set_stroke_rgb(red, green, blue);
    content.set_line_width(short(width));
}

fn parts(colour: Colour) -> [f32; 3] {
    colour.0.map(|part| short(f64::from(part) / 255.0))
}

/// More than hundredths are not seen and make the file larger.
fn short(number: f64) -> f32 {
    ((number * 100.0).round() / 100.0) as f32
}
