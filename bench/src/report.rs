//! A figure beside its floor, and how it is told.

use std::fmt::Write as _;
use std::io::Write;

use serde::Serialize;

use crate::Size;
use crate::samples::shown;
use crate::trouble::Trouble;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) what: String,
    /// What it is held against; `None` for an absolute figure.
    pub(crate) baseline: Option<Measured>,
    pub(crate) measured: Measured,
    /// Figure ÷ baseline.
    pub(crate) ratio: Option<f64>,
    pub(crate) bound: Bound,
    pub(crate) details: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) value: f64,
    pub(crate) unit: Unit,
    pub(crate) how: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Seconds,
    Megabytes,
    PerFsync,
    Records,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Measured {
    pub(crate) fn seconds(value: f64, how: impl Into<String>) -> Self {
        Self { value, unit: Unit::Seconds, how: how.into() }
    }

    fn shown(&self) -> String {
        match self.unit {
            Unit::Seconds => shown(self.value),
            Unit::Megabytes => format!("{:.1} MB", self.value),
            Unit::PerFsync => format!("{:.1} per fsync", self.value),
            Unit::Records => format!("{:.0} records", self.value),
        }
    }
}

impl Figure {
    /// One thing held against another.
    pub(crate) fn ratio(
        name: &'static str,
        what: impl Into<String>,
        (measured, baseline): (Measured, Measured),
        bound: Bound,
    ) -> Self {
        let ratio = Some(measured.value / baseline.value);
        Self { name, what: what.into(), baseline: Some(baseline), measured, ratio, bound, details: Vec::new() }
    }

    /// A figure that stands for itself.
    pub(crate) fn absolute(name: &'static str, what: impl Into<String>, measured: Measured, bound: Bound) -> Self {
        Self { name, what: what.into(), baseline: None, measured, ratio: None, bound, details: Vec::new() }
    }

    pub(crate) fn detail(mut self, text: impl Into<String>) -> Self {
        self.details.push(text.into());
        self
    }

    pub(crate) fn passes(&self) -> bool {
        let judged = self.ratio.unwrap_or(self.measured.value);
        match self.bound {
            Bound::AtMost(most) => judged <= most,
            Bound::AtLeast(least) => judged >= least,
        }
    }

    fn verdict(&self) -> &'static str {
        if self.passes() { "pass" } else { "MISS" }
    }

    fn bound_shown(&self) -> String {
        let unit = match (self.ratio, self.measured.unit) {
            (Some(_), _) | (None, Unit::PerFsync | Unit::Records) => "",
            (None, Unit::Seconds) => " s",
            (None, Unit::Megabytes) => " MB",
        };
        match self.bound {
            Bound::AtMost(most) => format!("≤ {most}{unit}"),
            Bound::AtLeast(least) => format!("≥ {least}{unit}"),
        }
    }
}

pub(crate) fn print_machine() -> Result<(), Trouble> {
    let cores = dandori_host::machine::cores();
    let memory = dandori_host::machine::available_memory().unwrap_or(0) >> 30;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    writeln!(std::io::stdout(), "{cores} cores, {memory} GiB of memory free, load {}\n", load.join(" "))?;
    Ok(())
}

pub(crate) fn print(figure: &Figure) -> Result<(), Trouble> {
    let mut text = format!("{}: {}\n", figure.name, figure.what);
    // Writing to a string does not fail.
    if let Some(baseline) = &figure.baseline {
        let _ = writeln!(text, "  baseline  {:<14} {}", baseline.shown(), baseline.how);
    }
    let _ = writeln!(text, "  figure    {:<14} {}", figure.measured.shown(), figure.measured.how);
    let ratio = figure.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.4}"));
    let _ = writeln!(text, "  ratio     {ratio:<14} bound {}   {}", figure.bound_shown(), figure.verdict());
    for detail in &figure.details {
        let _ = writeln!(text, "  · {detail}");
    }
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}

pub(crate) fn print_end(figures: &[Figure], size: Size) -> Result<(), Trouble> {
    let missed: Vec<&str> = figures.iter().filter(|f| !f.passes()).map(|f| f.name).collect();
    let told = match (size, missed.is_empty()) {
        (Size::Quick, _) => "quick: sizes too small for the figures to mean anything".to_owned(),
        (Size::Full, true) => format!("all {} bounds kept", figures.len()),
        (Size::Full, false) => format!("missed: {}", missed.join(", ")),
    };
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}

pub(crate) fn print_json(figures: &[Figure], quick: bool) -> Result<(), Trouble> {
    let figures: Vec<serde_json::Value> = figures
        .iter()
        .map(|figure| {
            let mut value = serde_json::to_value(figure)?;
            if let Some(map) = value.as_object_mut() {
                map.insert("pass".to_owned(), figure.passes().into());
            }
            Ok(value)
        })
        .collect::<Result<_, serde_json::Error>>()?;
    writeln!(std::io::stdout(), "{}", serde_json::json!({ "quick": quick, "figures": figures }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_judges_the_ratio_and_without_one_the_figure() {
        let seconds = |value| Measured::seconds(value, "");
        assert!(Figure::ratio("r", "", (seconds(1.0), seconds(20.0)), Bound::AtMost(0.05)).passes());
        assert!(!Figure::ratio("r", "", (seconds(1.1), seconds(20.0)), Bound::AtMost(0.05)).passes());
        assert!(Figure::absolute("a", "", seconds(1.9), Bound::AtMost(2.0)).passes());
        assert!(!Figure::absolute("a", "", seconds(9.9), Bound::AtLeast(10.0)).passes());
        assert!(!Figure::absolute("a", "", seconds(f64::NAN), Bound::AtMost(2.0)).passes());
    }
}
