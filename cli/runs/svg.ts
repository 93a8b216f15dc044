// A graph drawn as SVG, without a program or a font to ask. Pure.

import type {Graph} from './graph.js';
import {markText} from './graph.js';
import {layoutOf, type Box, type Layout, type Line, type Point} from './layout.js';
import {edgeColour, fillOf, lineOf} from './mark-colours.js';

export function svgOf(name: string, graph: Graph): string {
	const layout = layoutOf(graph);
	const [width, height] = [number(layout.width + 2 * margin), number(layout.height + 2 * margin)];
	return [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="12">`,
		`<title>${escaped(name)}</title>`,
		`<rect width="100%" height="100%" fill="white"/>`,
		`<g transform="translate(${margin} ${margin})">`,
		...machine(layout),
		'</g>',
		'</svg>',
		'',
	].join('\n');
}

const margin = 16;

const number = (value: number): string => String(Math.round(value * 10) / 10);

function machine({boxes, lines, start, entry}: Layout): readonly string[] {
	const {x, y} = start;
	return [
		`<circle cx="${number(x)}" cy="${number(y)}" r="4" fill="#555555"/>`,
		`<path d="M${number(x)} ${number(y)}V${number(entry.y)}" stroke="#555555" fill="none"/>${arrow(entry, '#555555')}`,
		// What was gone is above what was not.
		...lines.toSorted((a, b) => Number(a.edge.isTaken) - Number(b.edge.isTaken)).map(edgeLine),
		...boxes.flatMap(boxLines),
	];
}

/** With its point there, from above. */
const arrow = ({x, y}: Point, colour: string): string => `<path d="M${number(x)} ${number(y)}l-4 -6h8z" fill="${colour}"/>`;

function edgeLine({edge, path, tip}: Line): string {
	const colour = edgeColour(edge);
	const dashes = edge.isCatch ? ' stroke-dasharray="5 3"' : '';
	const title = `${edge.from} -> ${edge.to}${edge.label === '' ? '' : `: ${edge.label}`}`;
	const width = edge.isTaken ? 2 : 1;
	return `<g><title>${escaped(title)}</title><path d="${path}" stroke="${colour}" stroke-width="${width}"${dashes} fill="none"/>${arrow(tip, colour)}</g>`;
}

function boxLines({node, x, y, width, height, inner}: Box): readonly string[] {
	const {name, type, mark, visits} = node;
	const text = `${name}${visits > 1 ? ` ×${visits}` : ''}`;
	const corner = type === 'Choice' ? ' rx="16"' : type === 'Succeed' || type === 'Fail' ? '' : ' rx="5"';
	const isComposite = inner.length > 0;
	const textY = isComposite ? y + 17 : y + height / 2 + 4;
	return [
		`<g><title>${escaped(`${name}: ${type}, ${markText[mark]}`)}</title>`,
		`<rect x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"${corner} fill="${fillOf(mark)}" fill-opacity="${isComposite ? 0.5 : 1}" stroke="${lineOf(mark)}"/>`,
		`<text x="${number(x + width / 2)}" y="${number(textY)}" text-anchor="middle">${escaped(text)}</text></g>`,
		...inner.flatMap(each => [`<g transform="translate(${number(x + each.x)} ${number(y + each.y)})">`, ...machine(each.layout), '</g>']),
	];
}

/** Text of XML; what it has no form for is left out. */
const escaped = (text: string): string =>
	text
		.replace(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, ' ')
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;')
		.replaceAll('"', '&quot;');
