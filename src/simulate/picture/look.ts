/** Colours of the bands, told apart by most eyes and calm on light and dark ground alike. */
export const bandColours = ['#4e79a7', '#76b7b2', '#e8a35c', '#b07aa1', '#8cb369', '#d7837f', '#7f7fd5'] as const;
export const othersColour = '#98a2b3';

/** Light unless the reader's screen is dark. */
export const style = `
text { font: 12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #3d4653; }
.title { font-size: 17px; font-weight: 600; fill: #1b212b; }
.panel { font-weight: 600; fill: #1b212b; }
.ground { fill: #ffffff; }
.empty { fill: #eef1f5; }
.grid { stroke: #e3e7ed; stroke-width: 1; }
.axis { stroke: #b8c0cc; stroke-width: 1; }
.limit { stroke: #6b7685; stroke-width: 1.2; stroke-dasharray: 4 3; fill: none; }
.queue { fill: #e8a35c; fill-opacity: 0.75; }
.heat { fill: #4e79a7; }
@media (prefers-color-scheme: dark) {
  text { fill: #aab4c2; }
  .title, .panel { fill: #e8ecf2; }
  .ground { fill: #14181f; }
  .empty { fill: #222934; }
  .grid { stroke: #262e3a; }
  .axis { stroke: #465062; }
  .limit { stroke: #8b96a8; }
  .heat { fill: #7aa5d2; }
}
`;
