// `troupe events`: what happened and why, oldest first.

import {type Invocation, usageError} from '../command.js';
import {eventCells, listEvents} from '../objects/event-list.js';
import {listOf, printedWhole} from '../objects/output.js';
import {readTarget} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {drawTable} from '../screen/table.js';
import {widthFor} from '../screen/text-width.js';

const head = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
const typeColumn = 1;

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	if (inputs.length > 0) throw usageError(`events takes no names; --for ${inputs.join('/')} shows those about one object`);
	const about = flags.text('for');
	const {resource, names} = about === undefined ? {resource: undefined, names: []} : readTarget(about);
	return withClient(invocation, async client => {
		const everywhere = flags.on('all-namespaces');
		const namespace = everywhere ? undefined : namespaceOf(invocation, client);
		const found = await listEvents(client, namespace, resource === undefined ? undefined : {resource, name: names[0] ?? ''});
		if (await printedWhole(invocation, listOf(found))) return 0;
		if (found.length === 0) {
			terminal.note(namespace === undefined || about !== undefined ? 'No events found' : `No events found in ${namespace} namespace.`);
			return 0;
		}
		const nowMs = Date.now();
		const rows = found.map(event => [...(everywhere ? [event.metadata.namespace ?? ''] : []), ...eventCells(event, nowMs)]);
		const heads = everywhere ? ['NAMESPACE', ...head] : head;
		const coloured = heads.length - head.length + typeColumn;
		const {yellow} = terminal.colours;
		terminal.out(
			drawTable(heads, rows, await widthFor(rows.flat()), (cell, at) => (at === coloured && cell === 'Warning' ? yellow(cell) : cell)),
		);
		return 0;
	});
}
