// Lines over time, by uPlot. Beside each the newest figures in words, for those who see no chart.
import { html } from './parts.js';
import { clockTime, kept } from './format.js';
import { useEffect, useRef } from './vendor-preact-htm.js';

/** dark, light, or as the system has it. */
export const theme = kept('theme', 'system');

const dark = window.matchMedia('(prefers-color-scheme: dark)');

export function applyTheme(name) {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

function resolved(element, name) {
  element.style.color = `var(--${name})`;
  return getComputedStyle(element).color;
}

const HEIGHT = 150;
const LEAST_SECONDS = 300;

/** At least five minutes, so that two readings do not fill the chart. */
function span(times) {
  const end = times[times.length - 1] ?? Date.now() / 1_000;
  return [Math.min(times[0] ?? end, end - LEAST_SECONDS), end];
}

export function Chart({ label, columns, lines, unit, sync = 'overview' }) {
  const place = useRef(null);
  const plot = useRef(null);
  const shown = theme.use();
  const data = [columns.at, ...lines.map((line) => columns[line.of])];
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      const probe = document.createElement('i');
      place.current.append(probe);
      const ink = resolved(probe, 'faint');
      const grid = resolved(probe, 'line');
      const colours = lines.map((line) => resolved(probe, line.colour));
      probe.remove();
      const font = '11px ' + (colour('font') || 'sans-serif');
      const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
      plot.current = new window.uPlot(
        {
          width: place.current.clientWidth || 300,
          height: HEIGHT,
          legend: { show: false },
          cursor: { sync: { key: sync }, drag: { x: false, y: false }, points: { size: 6 } },
          padding: [8, 8, 0, 0],
          scales: { x: { time: true, range: (plot) => span(plot.data[0]) }, y: { range: (_, low, high) => [0, Math.max(high ?? 0, unit.least ?? 1) * 1.1] } },
          axes: [{ ...axis, space: 70, size: 24, values: (_, ticks) => ticks.map((t) => clockTime(t * 1_000)) }, { ...axis, size: 68, space: 32, values: (_, ticks) => ticks.map(unit.words) }],
          series: [{}, ...lines.map((line, i) => ({ stroke: colours[i], width: 1.75, spanGaps: false, points: { size: 4 }, fill: line.fill ? colours[i].replace('rgb(', 'rgba(').replace(')', ', 0.12)') : undefined }))],
        },
        data,
        place.current,
      );
    };
    draw();
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: place.current.clientWidth || 300, height: HEIGHT }));
    sizes.observe(place.current);
    dark.addEventListener('change', draw);
    return () => {
      sizes.disconnect();
      dark.removeEventListener('change', draw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shown, lines.map((line) => line.of).join()]);
  useEffect(() => {
    plot.current?.setData(data);
  });
  const last = (line) => columns[line.of].findLast((value) => value !== null);
  return html`<figure class="chart">
    <figcaption><strong>${label}</strong>${lines.map((line) => html`<span key=${line.of}><i class=${'key ' + line.colour} aria-hidden="true"></i>${line.name} <b>${last(line) === undefined ? '–' : unit.words(last(line))}</b></span>`)}</figcaption>
    <div class="plot" ref=${place} aria-hidden="true"></div>
  </figure>`;
}
