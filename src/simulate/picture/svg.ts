/** What SVG is written with: text only, and whatever a file brought is escaped. */

type Attributes = Readonly<Record<string, string | number>>;

/** One element; the children are SVG already. */
export function element(name: string, attributes: Attributes, children = ''): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? short(value) : escapeXml(value)}"`)
    .join('');
  return children === '' ? `<${name}${written}/>` : `<${name}${written}>${children}</${name}>`;
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, ...attributes }, escapeXml(content));
}

/** Control characters are no part of XML at all, escaped or not. */
export function escapeXml(content: string): string {
  return content
    .replace(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, ' ')
    .replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** One digit behind the point is finer than a pixel. */
export function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}
