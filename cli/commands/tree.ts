// `troupe tree`: the actors of every system of the cluster, as they are now.

import {AppError, rowOf} from '../../api/errors.js';
import {actorsPath} from '../../api/inspect.js';
import {limits} from '../../api/limits.js';
import {didYouMean} from '../../api/suggest.js';
import {drawTrees, type SystemTree} from '../objects/actor-tree.js';
import {type Invocation, usageError} from '../command.js';
import {printedWhole} from '../objects/output.js';
import {withClient} from '../cluster/session.js';

type Item = Omit<SystemTree, 'system'> & {readonly metadata: {readonly name: string}};

const wholeTrees = {path: actorsPath, query: {depth: String(limits.objectDepth), children: String(limits.inspectListed)}};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [wanted, ...more] = inputs;
	const depth = flags.number('depth') ?? Number.POSITIVE_INFINITY;
	if (more.length > 0) throw usageError('tree draws one system, or all of them when none is named');
	if (depth < 0) throw usageError(`--depth must be a number from 0 on, got ${depth}`);
	const {items} = (await withClient(invocation, client => client.json(wholeTrees))) as {readonly items: readonly Item[]};
	const systems = items.map(({metadata: {name}, ...told}): SystemTree => ({system: name, ...told}));
	const chosen = wanted === undefined ? systems : systems.filter(({system}) => system === wanted);
	if (wanted !== undefined && chosen.length === 0) throw unknownSystem(wanted, systems);
	if (!(await printedWhole(invocation, {systems: chosen}))) terminal.out(drawTrees(chosen, depth, terminal.colours));
	return chosen.some(({tree}) => tree === undefined || tree === null) ? rowOf('ERR_NOT_REACHABLE').exitCode : 0;
}

function unknownSystem(wanted: string, systems: readonly SystemTree[]): AppError {
	const names = systems.map(({system}) => system);
	const near = didYouMean(wanted, names);
	const error = new AppError('ERR_NOT_FOUND', {resource: 'systems', name: wanted});
	error.message += near === '' ? `; there are ${names.join(', ')}` : near;
	return error;
}
