//! Plots of measurements as SVG: lines over one axis, linear or logarithmic.

use std::path::Path;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// Width and height in pixels.
const SIZE: (u32, u32) = (760, 360);

/// Colours that stay apart in greys and for the colour-blind (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// One line of a plot.
#[derive(Clone, Debug)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// In the order of their first number.
    pub points: Vec<(f64, f64)>,
}

/// A plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// Below the horizontal axis.
    pub x: String,
    /// Beside the vertical axis.
    pub y: String,
    /// In the order of the legend.
    pub lines: Vec<Line>,
    /// Whether both axes are logarithmic; every number must then be above zero.
    pub logarithmic: bool,
}

impl Plot {
    /// Writes the plot into a file.
    ///
    /// # Errors
    /// Why it cannot be drawn or written, as a sentence.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let svg = self.svg().map_err(|why| format!("{}: {why}", path.display()))?;
        std::fs::write(path, svg).map_err(|why| format!("{}: {why}", path.display()))
    }

    /// The plot as a text of SVG.
    ///
    /// # Errors
    /// Why it cannot be drawn.
    pub fn svg(&self) -> Result<String, String> {
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            self.draw(&area).map_err(|why| why.to_string())?;
            area.present().map_err(|why| why.to_string())?;
        }
        svg.push('\n');
        Ok(svg)
    }

    /// From the least to the most number of an axis.
    fn range(&self, of: impl Fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let all = || self.lines.iter().flat_map(|line| &line.points).map(&of);
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
    }

    fn draw<'a>(&self, area: &DrawingArea<SVGBackend<'a>, Shift>) -> Result<(), Failed<'a>> {
        area.fill(&WHITE)?;
        let ((left, right), (low, high)) = (self.range(|point| point.0), self.range(|point| point.1));
        if !(left.is_finite() && low.is_finite()) {
            return area.titled("no figures", ("sans-serif", 18)).map(|_| ());
        }
        let mut builder = ChartBuilder::on(area);
        builder.caption(&self.title, ("sans-serif", 18)).margin(12).x_label_area_size(40).y_label_area_size(60);
        let (right, high) = (right.max(left + f64::EPSILON), high.max(low + f64::EPSILON));
        if self.logarithmic {
            let axes = ((left..right).log_scale(), (low * 0.8..high * 1.25).log_scale());
            let mut chart = builder.build_cartesian_2d(axes.0, axes.1)?;
            chart.configure_mesh().x_desc(&self.x).y_desc(&self.y).light_line_style(TRANSPARENT).draw()?;
            for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
                let points = || line.points.iter().copied();
                let drawn = chart.draw_series(LineSeries::new(points(), colour.stroke_width(2)))?;
                let key = *colour;
                drawn.label(&line.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], key));
                chart.draw_series(points().map(|point| Circle::new(point, 3, colour.filled())))?;
            }
            chart.configure_series_labels().border_style(BLACK.mix(0.3)).background_style(WHITE.mix(0.8)).draw()?;
            return Ok(());
        }
        let mut chart = builder
            .build_cartesian_2d::<RangedCoordf64, RangedCoordf64>((left..right).into(), (0.0..high * 1.1).into())?;
        chart.configure_mesh().x_desc(&self.x).y_desc(&self.y).light_line_style(TRANSPARENT).draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let drawn = chart.draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(1)))?;
            let key = *colour;
            drawn.label(&line.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], key));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .border_style(BLACK.mix(0.3))
            .background_style(WHITE.mix(0.8))
            .draw()
    }
}

/// Why a plot was not drawn.
type Failed<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(logarithmic: bool, points: Vec<(f64, f64)>) -> Plot {
        let lines = vec![Line { name: "one".to_owned(), points }];
        Plot { title: "T <b>".to_owned(), x: "size".to_owned(), y: "ms".to_owned(), lines, logarithmic }
    }

    #[test]
    fn lines_names_and_an_empty_plot_are_drawn() {
        for logarithmic in [false, true] {
            let svg = plot(logarithmic, vec![(1.0, 1.0), (10.0, 30.0)]).svg().expect("it is drawn");
            assert!(svg.contains("one") && svg.contains("size") && svg.contains("polyline"), "{svg}");
            assert!(!svg.contains("<b>"), "names are escaped");
            assert!(plot(logarithmic, Vec::new()).svg().expect("it is drawn").contains("no figures"));
        }
    }
}
