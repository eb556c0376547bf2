//! A sheet of paper, and how the picture lies on it: upright or lying, as large
//! as it may be, and no larger than is read well.

use std::str::FromStr;

use crate::layout::Placed;

/// What printers leave white: half an inch.
const MARGIN: f64 = 36.0;
/// The largest names are of 50 points in the picture's own.
const LARGEST_SCALE: f64 = 0.5;

/// What a page is printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Paper {
    /// 210 by 297 mm.
    #[default]
    A4,
    /// 8.5 by 11 inches.
    Letter,
}

impl FromStr for Paper {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name.to_ascii_lowercase().as_str() {
            "a4" => Ok(Self::A4),
            "letter" => Ok(Self::Letter),
            _ => Err("give a4 or letter".into()),
        }
    }
}

impl Paper {
    /// Of a country, as a locale such as `en_US.UTF-8` names it.
    pub fn of_locale(locale: &str) -> Self {
        match locale.get(..5) {
            Some("en_US" | "en_CA" | "fr_CA" | "es_US") => Self::Letter,
            _ => Self::A4,
        }
    }

    /// Points, upright.
    pub fn points(self) -> (f64, f64) {
        match self {
            Self::A4 => (595.0, 842.0),
            Self::Letter => (612.0, 792.0),
        }
    }

    /// How high the smallest name of a picture is on it, in points; none where
    /// there are no boxes.
    pub fn smallest_name(self, placed: &Placed) -> Option<f64> {
        let scale = Fit::of(placed, self).scale;
        let names = placed.boxes.iter().filter_map(|sheet| sheet.lines.first());
        let sizes = names.map(|name| name.size * scale);
        sizes.reduce(f64::min)
    }
}

/// How a picture lies on a sheet: from its top, in the middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub is_landscape: bool,
    pub scale: f64,
    /// The sheet as it is looked at.
    pub page: (f64, f64),
    /// What is beside the picture, and above it.
    pub left: f64,
    pub top: f64,
    /// What it covers.
    pub width: f64,
    pub height: f64,
}

impl Fit {
    pub(super) fn of(placed: &Placed, paper: Paper) -> Self {
        let (width, height) = (placed.width.max(1.0), placed.height.max(1.0));
        let scale = |(page_width, page_height): (f64, f64)| {
            let room = (page_width - 2.0 * MARGIN, page_height - 2.0 * MARGIN);
            (room.0 / width).min(room.1 / height).min(LARGEST_SCALE)
        };
        let upright = paper.points();
        let lying = (upright.1, upright.0);
        let is_landscape = scale(lying) > scale(upright);
        let page = if is_landscape { lying } else { upright };
        let scale = scale(page);
        Self {
            is_landscape,
            scale,
            page,
            left: (page.0 - width * scale) / 2.0,
            top: MARGIN,
            width: width * scale,
            height: height * scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(width: f64, height: f64) -> Placed {
        Placed {
            width,
            height,
            ..Placed::default()
        }
    }

    #[test]
    fn the_page_lies_as_the_picture_does() {
        let wide = Fit::of(&placed(4000.0, 2000.0), Paper::A4);
        assert!(wide.is_landscape && wide.page == (842.0, 595.0));
        assert!(wide.width <= 770.0 && wide.height <= 523.0);
        let high = Fit::of(&placed(500.0, 9000.0), Paper::Letter);
        assert!(!high.is_landscape && high.page == (612.0, 792.0));
        assert_eq!(high.height, 720.0);
        let small = Fit::of(&placed(100.0, 100.0), Paper::A4);
        assert_eq!((small.scale, small.left), (0.5, 272.5));
    }

    #[test]
    fn paper_goes_by_the_country() {
        assert_eq!(Paper::of_locale("en_US.UTF-8"), Paper::Letter);
        assert_eq!(Paper::of_locale("en_CA"), Paper::Letter);
        assert_eq!(Paper::of_locale("en_GB.UTF-8"), Paper::A4);
        assert_eq!(Paper::of_locale("C"), Paper::A4);
    }
}
