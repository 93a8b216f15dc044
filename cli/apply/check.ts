// Everything that files say, read and checked before the first write, so that bad input changes nothing.

import type {Client} from '../client.js';
import type {Invocation} from '../command.js';
import {placeText, tellFaults, type Fault} from '../manifests/faults.js';
import {readManifests, type Manifests} from '../manifests/manifest-files.js';
import {namespaceOf} from '../cluster/session.js';
import {readHere} from './check-here.js';
import {planAll, type Planned, type Planner} from './plan.js';
import {prepareAll, readBy, type Prepared} from './prepare.js';

/** What is to be done, or the exit code of what is wrong, which was told. */
export type Checked<Work> = {readonly work: readonly Work[]} | {readonly exitCode: number};

/** The files that `-f` names. */
export const filesOf = ({flags, terminal, environment}: Invocation): Promise<Manifests> =>
	readManifests(flags.texts('filename'), terminal.input, {
		recursive: flags.on('recursive'),
		environment,
		profiles: flags.texts('profile'),
	});

/** Reads and plans all documents of the files; the cluster tries every write without keeping it. */
export async function checkAll(
	client: Client,
	invocation: Invocation,
	manifests: Manifests,
	planner: Planner,
	mayGenerate = false,
): Promise<Checked<Planned>> {
	const where = {namespace: namespaceOf(invocation, client), isDemanded: invocation.flags.text('namespace') !== undefined, mayGenerate};
	const {prepared, faults} = await prepareAll(readBy(client), manifests.documents, where);
	const plans = await planAll(client, prepared, planner);
	return settled(invocation, manifests, prepared, [...faults, ...plans.faults], plans.planned);
}

/** The same as far as this program knows by itself: no cluster is asked. */
export async function checkHere(invocation: Invocation, manifests: Manifests, mayGenerate = false): Promise<Checked<Prepared>> {
	const namespace = invocation.flags.text('namespace');
	const where = {namespace: namespace ?? 'default', isDemanded: namespace !== undefined, mayGenerate};
	const {prepared, faults} = await prepareAll(readHere, manifests.documents, where);
	return settled(invocation, manifests, prepared, faults, prepared);
}

function settled<Work>(
	{terminal}: Invocation,
	manifests: Manifests,
	prepared: readonly Prepared[],
	found: readonly Fault[],
	work: readonly Work[],
): Checked<Work> {
	const faults = [...manifests.faults, ...found];
	if (faults.length > 0) return {exitCode: tellFaults(terminal, faults, manifests.files)};
	for (const {place, message} of manifests.notes ?? []) terminal.note(`note: ${placeText(place)}: ${message}`);
	for (const {build} of manifests.documents)
		if (build !== undefined && build.hash === undefined)
			terminal.note(`note: ${placeText(build.place)}: ${build.path}: is not built by this: troupe apply builds it, as ${build.build.tag}`);
	for (const {document, notes} of prepared) for (const note of notes) terminal.note(`note: ${placeText(document.locate(''))}: ${note}`);
	return {work};
}
