// `troupe diff`: what `apply` would change, found by letting the cluster try it. Exit code 0: nothing, 1: something, 2 and more: an error.

import type {ApiObject} from '../../api/object.js';
import {withContexts} from '../apply/builds.js';
import {checkAll, filesOf} from '../apply/check.js';
import {withCode} from '../apply/code.js';
import {applying, type Planned} from '../apply/plan.js';
import {type Invocation, usageError} from '../command.js';
import {withInstaller, type Install} from '../function/install.js';
import {unifiedDiff} from '../diff/unified.js';
import {withKind} from '../cluster/lists.js';
import {asYaml} from '../objects/output.js';
import {withClient} from '../cluster/session.js';
import type {Colours} from '../screen/terminal.js';
import {withoutSecrets, writtenPart} from '../manifests/written-part.js';

/** As `diff` of POSIX. */
const different = 1;
const failed = 2;

export async function run(invocation: Invocation): Promise<number> {
	const {inputs} = invocation;
	if (inputs.length > 0) throw usageError(`diff takes files with -f, as in: troupe diff -f ${inputs.join(' -f ')}`);
	return withInstaller(invocation, install => differences(invocation, install));
}

async function differences(invocation: Invocation, install: Install | undefined): Promise<number> {
	const {terminal} = invocation;
	const manifests = await withCode(await withContexts(await filesOf(invocation)), install);
	return withClient(invocation, async client => {
		const checked = await checkAll(client, invocation, manifests, applying);
		if ('exitCode' in checked) return Math.max(checked.exitCode, failed);
		let exitCode = 0;
		for (const planned of checked.work) {
			const text = await differenceOf(planned, terminal.colours);
			if (text === undefined) continue;
			terminal.out(text);
			exitCode = different;
		}
		return exitCode;
	});
}

async function differenceOf({prepared, live, outcome}: Planned, colours: Colours): Promise<string | undefined> {
	const {resource, namespace, name} = prepared;
	const shown = (object: ApiObject | undefined) => (object === undefined ? undefined : writtenPart(withKind(object, resource)));
	const [before, after] = withoutSecrets([shown(live), shown(outcome)]);
	const version = [resource.group, resource.version, resource.kind].filter(part => part !== '').join('.');
	const file = [version, resource.namespaced ? namespace : '', name].filter(part => part !== '').join('.');
	return unifiedDiff(
		{name: `LIVE/${file}`, text: before === undefined ? '' : await asYaml(before)},
		{name: `MERGED/${file}`, text: after === undefined ? '' : await asYaml(after)},
		colours,
	);
}
