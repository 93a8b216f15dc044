// `troupe convert`: what compose files and manifests of older dialects become, checked and shown. No cluster is asked.

import {checkHere, filesOf} from '../apply/check.js';
import {type Invocation, usageError} from '../command.js';
import {asText, asYaml, listOf} from '../objects/output.js';
import type {ApiObject} from '../../api/object.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	if (inputs.length > 0) throw usageError(`convert takes files with -f, as in: troupe convert -f ${inputs.join(' -f ')}`);
	const checked = await checkHere(invocation, await filesOf(invocation), true);
	if ('exitCode' in checked) return checked.exitCode;
	const objects = checked.work.map(({object}) => object);
	if (flags.text('output') === 'json')
		terminal.out(await asText(objects.length === 1 ? objects[0] : listOf(objects as unknown as readonly ApiObject[]), 'json'));
	// Documents, and not a list: so that a person can go on with them.
	else terminal.out((await Promise.all(objects.map(asYaml))).join('---\n'));
	return 0;
}
