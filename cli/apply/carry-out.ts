// The way of every command that writes what files say: read all, check all, then write one after the other and say what became of it.

import type {ApiObject} from '../../api/object.js';
import type {Client} from '../client.js';
import {type Invocation, usageError} from '../command.js';
import {exitCodeOf, faultText} from '../manifests/faults.js';
import type {Manifests} from '../manifests/manifest-files.js';
import {withClient} from '../cluster/session.js';
import type {Terminal} from '../screen/terminal.js';
import {checkAll, checkHere, filesOf} from './check.js';
import {locateFaults} from './located.js';
import type {Planned, Planner} from './plan.js';
import {dryRunOf, reportOf} from './written.js';

/** In what one command differs from another. */
export type Manner = {
	readonly command: string;
	readonly planner: Planner;
	/** Another reading of the files than `filesOf`. */
	readonly read?: (invocation: Invocation) => Promise<Manifests>;
	/** Whether `generateName` will do for a name. */
	readonly mayGenerate: boolean;
	/** What an object is said to be when no cluster was asked. */
	readonly unasked: string;
	/** Writes for real; what is there then. */
	readonly write: (client: Client, planned: Planned) => Promise<ApiObject | undefined>;
	/** What became of it; of a dry run, `written` is what the cluster says it would be. */
	readonly became: (planned: Planned, written: ApiObject, isDryRun: boolean) => string;
	/** What is done with what the files say before it is written, and after all of it was found good; the exit code of what went wrong. */
	readonly before?: (client: Client, invocation: Invocation, manifests: Manifests) => Promise<number>;
	/** What is worth a word when all is written. */
	readonly after?: (client: Client, all: readonly Planned[], terminal: Terminal) => Promise<void>;
	/** What else is worth a word before it is written. */
	readonly remark?: (planned: Planned, terminal: Terminal) => void;
};

/** Runs a command of this manner; the exit code. A write that fails is told, and the others are done all the same. */
export async function carryOut(invocation: Invocation, manner: Manner): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const {command} = manner;
	if (inputs.length > 0) throw usageError(`${command} takes files with -f, as in: troupe ${command} -f ${inputs.join(' -f ')}`);
	const dryRun = dryRunOf(flags);
	const isDryRun = dryRun !== undefined;
	const manifests = await (manner.read ?? filesOf)(invocation);
	if (dryRun === 'client') {
		const checked = await checkHere(invocation, manifests, manner.mayGenerate);
		if ('exitCode' in checked) return checked.exitCode;
		const report = reportOf(terminal, flags, checked.work.length === 1);
		for (const {resource, object} of checked.work) report.say(resource, object as unknown as ApiObject, manner.unasked);
		await report.end();
		return 0;
	}
	return withClient(invocation, async client => {
		const checked = await checkAll(client, invocation, manifests, manner.planner, manner.mayGenerate);
		if ('exitCode' in checked) return checked.exitCode;
		let exitCode = isDryRun ? 0 : ((await manner.before?.(client, invocation, manifests)) ?? 0);
		if (exitCode !== 0) return exitCode;
		const report = reportOf(terminal, flags, checked.work.length === 1);
		for (const planned of checked.work) {
			const {resource, document, renamed} = planned.prepared;
			manner.remark?.(planned, terminal);
			try {
				const written = isDryRun ? planned.outcome : await manner.write(client, planned);
				if (written !== undefined) report.say(resource, written, manner.became(planned, written, isDryRun));
			} catch (error) {
				const faults = locateFaults(error, document, renamed);
				faults.forEach(fault => terminal.error(faultText(fault)));
				exitCode = Math.max(exitCode, exitCodeOf(faults));
			}
		}
		await report.end();
		await manner.after?.(client, checked.work, terminal);
		return exitCode;
	});
}
