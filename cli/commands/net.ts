// `troupe net check FROM TO`: walks the way from one place to another and says at which hop it fails. Exit code 0: all is well, 1: a hop failed.

import {type Invocation, usageError} from '../command.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {walk} from '../net-check/ask.js';
import {drawHops, hasFailed} from '../net-check/hops.js';
import {fromPlaceOf, placeText, toPlaceOf} from '../net-check/places.js';
import {printedWhole} from '../objects/output.js';
import {didYouMean} from '../../api/suggest.js';

const example = 'troupe net check pod/web service/db:5432';

export async function run(invocation: Invocation): Promise<number> {
	const {inputs, flags, terminal} = invocation;
	const [verb = '', from, to, ...more] = inputs;
	if (verb !== 'check')
		throw usageError(verb === '' ? `check what? as in: ${example}` : `unknown verb "${verb}" of net${didYouMean(verb, ['check'])}`);
	if (from === undefined || to === undefined || more.length > 0) throw usageError(`check takes FROM and TO, as in: ${example}`);
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const [fromPlace, toPlace] = [fromPlaceOf(from, namespace), toPlaceOf(to, flags.text('to-namespace') ?? namespace)];
		const hops = await walk(client, fromPlace, toPlace);
		const isOk = !hasFailed(hops);
		if (!(await printedWhole(invocation, {from: placeText(fromPlace), to: placeText(toPlace), ok: isOk, hops}))) {
			terminal.out(drawHops(hops, terminal.colours));
		}
		return isOk ? 0 : 1;
	});
}
