// `troupe image ls`: a row for each name of each image of each node.

import {ageOf} from '../../api/duration.js';
import type {ListedImage} from '../../actors/node/runtime/runtime-port.js';
import type {Client} from '../client.js';
import {asAppError, type Invocation} from '../command.js';
import {asText} from '../objects/output.js';
import {amount} from '../screen/amount.js';
import {cellText, drawTable} from '../screen/table.js';
import {widthFor} from '../screen/text-width.js';
import {imagesPath} from './bring.js';

export const imagesOf = async (client: Client, node: string): Promise<readonly ListedImage[]> =>
	((await client.json({path: imagesPath(node)})) as {readonly images: readonly ListedImage[]}).images;

type Row = ListedImage & {readonly node: string};

/** A node that does not answer is told, and the others are shown. */
export async function listImages(client: Client, {flags, terminal}: Invocation, nodes: readonly string[], nowMs: number): Promise<number> {
	let exitCode = 0;
	const found = await Promise.all(
		nodes.map(async (node): Promise<readonly Row[]> => {
			try {
				return (await imagesOf(client, node)).map(image => ({node, ...image}));
			} catch (error) {
				terminal.error(`${node}: ${asAppError(error).message}`);
				exitCode = 1;
				return [];
			}
		}),
	);
	const rows = found.flat();
	const form = flags.text('output');
	if (form === 'json' || form === 'yaml') terminal.out(await asText({images: rows}, form));
	else terminal.out(await tableOf(rows, form === 'wide', nowMs));
	return exitCode;
}

async function tableOf(images: readonly Row[], isWide: boolean, nowMs: number): Promise<string> {
	const rows = images.flatMap(({node, names, id, bytes, inUse, createdAtMs}) =>
		shownNames(names, isWide).map(name => [
			node,
			cellText(name),
			isWide ? id : id.replace(/^sha256:/, '').slice(0, 12),
			amount(bytes),
			inUse ? 'yes' : 'no',
			ageOf(Math.max(0, nowMs - createdAtMs)),
		]),
	);
	return drawTable(['NODE', 'IMAGE', 'ID', 'SIZE', 'USED', 'AGE'], rows, await widthFor(rows.flat()));
}

/** Digests say nothing to people where there is a tag. */
function shownNames(names: readonly string[], isWide: boolean): readonly string[] {
	const tags = names.filter(name => !name.includes('@'));
	const shown = isWide || tags.length === 0 ? names : tags;
	return shown.length === 0 ? ['<none>'] : shown;
}
