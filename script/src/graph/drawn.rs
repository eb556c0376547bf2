//! Graphs as pictures.

use memlog_export::stacked::{Series, Stacked, svg};

use super::points::{Figures, Window, figures};
use super::{Graph, Kind, series};
use crate::env::{Made, refused};
use crate::flame::save_as_flame;
use crate::list::List;

impl Graph {
    /// The whole picture, into a file of this name.
    pub fn save(&self, name: &str) -> Made<Self> {
        let (figures, list) = self.figures()?;
        let names = series::names(&self.layers);
        let picture = self.picture(&figures, &names, 0..names.len());
        list.log.env.write(name, &picture)?;
        Ok(self.clone())
    }

    /// A picture for each series, into a folder.
    pub fn save_each(&self, folder: &str) -> Made<Self> {
        let lists = series::lists(&self.layers)?;
        let names = series::names(&self.layers);
        if let Some(first) = self.layers.first() {
            first.list().log.env.make_folder(folder)?;
        }
        for (index, (list, name)) in lists.into_iter().zip(names).enumerate() {
            let path = path_in(folder, index, name.as_deref());
            let mut alone = Self {
                layers: Vec::new(),
                ..self.clone()
            };
            alone = alone.with_list(list, name)?;
            alone.save(&path)?;
        }
        Ok(self.clone())
    }

    /// A flame graph for each series, into a folder.
    pub fn save_each_flame(&self, folder: &str) -> Made<Self> {
        self.must_be_of(memlog_answers::Of::Blocks)?;
        let lists = series::lists(&self.layers)?;
        let names = series::names(&self.layers);
        if let Some(first) = self.layers.first() {
            first.list().log.env.make_folder(folder)?;
        }
        for (index, (list, name)) in lists.into_iter().zip(names).enumerate() {
            save_as_flame(&list, &path_in(folder, index, name.as_deref()))?;
        }
        Ok(self.clone())
    }

    fn figures(&self) -> Made<(Figures, &List)> {
        let (Some(kind), Some(first)) = (self.kind(), self.layers.first()) else {
            return Err(refused("there is nothing in this graph: add a list to it"));
        };
        if kind == Kind::Rss && !first.list().chosen.is_all() {
            return Err(refused(
                "nobody recorded what was resident of single maps: show_rss is for maps() alone, and \
                 show_address_space shows what others had mapped",
            ));
        }
        let sent = self.layers.iter().map(series::Layer::sent);
        let sent = sent.collect::<Made<Vec<_>>>()?;
        let count = series::names(&self.layers).len();
        let window = Window {
            trims_left: self.trims_left,
            trims_right: self.trims_right,
            start: self.start,
            end: self.end,
        };
        let list = first.list();
        let figures = list
            .log
            .ask(move |desk| figures(desk, kind, (&sent, count), window))?;
        Ok((figures, list))
    }

    fn picture(
        &self,
        figures: &Figures,
        names: &[Option<String>],
        which: std::ops::Range<usize>,
    ) -> String {
        let kind = self.kind().unwrap_or(Kind::MemoryUsage);
        let series = which.map(|index| Series {
            name: names.get(index).cloned().flatten(),
            values: figures.values.get(index).cloned().unwrap_or_default(),
        });
        svg(&Stacked {
            title: format!("{} over time", kind.told()),
            value: kind.told().to_owned(),
            is_bytes: kind.is_bytes(),
            seconds: figures.seconds.clone(),
            series: series.collect(),
            shown: figures.shown,
            start_unix_seconds: figures.start_unix_seconds,
            around: self.around,
            gradient: self.gradient,
        })
    }
}

/// The file of a series. A name is no path.
fn path_in(folder: &str, index: usize, name: Option<&str>) -> String {
    let name = match name {
        Some(name) => name.replace('/', "_"),
        None => format!("Series #{index}"),
    };
    match folder {
        "." | "" => format!("{name}.svg"),
        folder => format!("{}/{name}.svg", folder.trim_end_matches('/')),
    }
}
