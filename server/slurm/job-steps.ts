// The steps of a SlurmJob at its login node, one a phase. Each is safe twice: what a step before a crash may have done is found again by it.

import type {SlurmNews} from '../../actors/control/slurm/slurm-news.js';
import {jobsIn, slurmPhaseOf, type SlurmJob} from '../../api/kinds/slurmjob.js';
import {limits} from '../../api/limits.js';
import {timestampOf} from '../../api/object.js';
import {pause} from '../workflows/try-again.js';
import type {Access} from './access.js';
import {Held, Refused, slurmUnavailable} from './held.js';
import {fetchResults} from './results.js';
import type {StepParts} from './step-parts.js';
import {compileScript, folderOf, jobFiles, prepareScript, removeScript, reportScript, shellCommand, submitScript} from './scripts.js';
import {isOver, isWaiting, mayPassAtSlurm, readReport, saidOf, seenOf, textSaid, verdictOf, type Report} from './slurm-output.js';
import {sourcesOf} from './sources.js';
import {RemoteFileError, type Ran} from './ssh.js';

/** What is to be told of a job: where it goes, and what is known then. */
export type Told = Pick<SlurmNews, 'to' | 'facts' | 'seen'>;

/** One step; undefined: nothing has changed. Rejects with `Held` and `Refused`. */
export function step(parts: StepParts, job: SlurmJob): Promise<Told | undefined> {
	const phase = slurmPhaseOf(job);
	switch (phase) {
		case 'Uploading':
			return parts.session.bulk.take(parts.signal, () => upload(parts, job));
		case 'Compiling':
			return compile(parts, job);
		case 'Submitting':
			return submit(parts, job);
		case 'Queued':
		case 'Running':
			return follow(parts, job);
		case 'Fetching':
			return finish(parts, job);
		case 'Pending':
		case 'Succeeded':
		case 'Failed':
		case 'Cancelled':
			return Promise.resolve(undefined);
	}
}

/** Where a job goes first. */
export const beginning = (job: SlurmJob, access: Access): Told => ({
	to: 'Uploading',
	facts: {host: access.host, username: access.login.username, folder: folderOf(job)},
});

async function ran({session: {ssh}, signal}: StepParts, input: string, ms: number = limits.slurmCommandMs): Promise<Ran> {
	const ended = await ssh.run(shellCommand, {input, ms, signal});
	if (ended.code === 127) throw new Refused('NoShell', 'the login node has no bash, which runs the scripts');
	if (saidOf(ended.out, 'busy') !== undefined)
		throw new Held('Busy', 'what an earlier connection has begun for this job still goes on at the login node');
	return ended;
}

const unknown = (what: string, {code, errors}: Ran): Held =>
	new Held('LoginNodeFailed', `${what}: exit code ${code ?? 'unknown'}${errors === '' ? '' : `: ${textOf(errors)}`}`);

const textOf = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(-limits.slurmSaidCharacters);

async function upload(parts: StepParts, job: SlurmJob): Promise<Told> {
	const sources = await sourcesOf(parts.artifacts, job.spec?.artifact);
	try {
		const prepared = await ran(parts, prepareScript(job, sources.folders));
		if (prepared.code === 72)
			throw new Refused('NoFlock', 'the login node has no flock (util-linux), which keeps a job from being submitted twice');
		if (saidOf(prepared.out, 'ready') === undefined) throw unknown('the folder of the job could not be made', prepared);
		const {files} = parts.session.ssh;
		const folder = folderOf(job);
		const own = Object.entries(jobFiles(job)).map(([name, text]) => ({name, read: () => Promise.resolve(Buffer.from(text)), mode: 0o700}));
		const all = sources.files.map(({name, isProgram, read}) => ({name: `work/${name}`, read, mode: isProgram ? 0o755 : 0o644}));
		const left = [...own, ...all].values();
		const writeNext = async (): Promise<void> => {
			for (const {name, read, mode} of left) await files.write(`${folder}/${name}`, read, mode, parts.signal);
		};
		await Promise.all(Array.from({length: limits.slurmTransfers}, writeNext)).catch((error: unknown) => {
			throw error instanceof RemoteFileError ? new Held('UploadFailed', error.message) : error;
		});
	} finally {
		await sources.close();
	}
	const facts = {hostKey: parts.session.ssh.hostKey.fingerprint};
	return {to: (job.spec?.compileCommands ?? []).length === 0 ? 'Submitting' : 'Compiling', facts};
}

async function compile(parts: StepParts, job: SlurmJob): Promise<Told> {
	const ended = await ran(parts, compileScript(job), limits.slurmCompileMs + limits.slurmCommandMs);
	if (saidOf(ended.out, 'gone') !== undefined) throw folderGone();
	const code = saidOf(ended.out, 'compiled');
	if (code === undefined || !/^\d{1,3}$/.test(code)) throw unknown('compiling was cut off', ended);
	if (code === '0') return {to: 'Submitting'};
	const said = textSaid(saidOf(ended.out, 'said') ?? '');
	const message = `compileCommands ended with exit code ${code}${said === '' ? '' : `: ${said}`}`;
	return {to: 'Fetching', facts: {outcome: {phase: 'Failed', reason: 'CompileFailed', message}}};
}

const folderGone = (): Refused => new Refused('FolderGone', 'the folder of the job is not at the login node any more');

async function submit(parts: StepParts, job: SlurmJob): Promise<Told> {
	const ended = await ran(parts, submitScript(job));
	if (saidOf(ended.out, 'gone') !== undefined) throw new Held('FolderGone', folderGone().message);
	const unanswered = saidOf(ended.out, 'unanswered');
	if (unanswered !== undefined) throw slurmUnavailable(unanswered);
	const refused = saidOf(ended.out, 'refused');
	if (refused !== undefined) {
		const said = textSaid(refused.split(' ')[1] ?? '');
		if (mayPassAtSlurm(said)) throw slurmUnavailable(refused);
		return {to: 'Fetching', facts: {outcome: {phase: 'Failed', reason: 'SubmitFailed', message: said}}};
	}
	const id = saidOf(ended.out, 'job');
	if (id === undefined || !/^\d{1,15}$/.test(id)) throw unknown('the job could not be submitted', ended);
	return {to: 'Queued', facts: {jobId: id, submitTime: timestampOf(parts.clock.nowMs())}, seen: {state: 'PENDING'}};
}

async function follow(parts: StepParts, job: SlurmJob): Promise<Told | undefined> {
	const {jobId = '', state} = job.status ?? {};
	const phase = slurmPhaseOf(job);
	const spec = job.spec ?? {runCommands: []};
	const asked = {id: jobId, isWaiting: phase === 'Queued', parts: jobsIn(spec)};
	const {rows, position} = await parts.session.follower.next(asked, parts.signal);
	if (rows.length === 0 || isOver(rows)) return conclude(parts, job, state);
	return {to: isWaiting(rows) ? 'Queued' : 'Running', seen: seenOf(spec, rows, position)};
}

/** Its end, once Slurm has said all of it. What it says comes to the accounts after a while. */
async function conclude(parts: StepParts, job: SlurmJob, state: string | undefined): Promise<Told | undefined> {
	const spec = job.spec ?? {runCommands: []};
	for (let tries = 1; ; tries++) {
		const report = await reportOf(parts, job);
		// Slurm has two of that name, as after a submission that it took too late to answer: only the first one does anything.
		if (report.owner !== undefined && report.owner !== job.status?.jobId) return {to: slurmPhaseOf(job), facts: {jobId: report.owner}};
		// It was begun anew between the two looks.
		if (report.isUnderWay) return undefined;
		const verdict = verdictOf(spec, report);
		if (verdict.outcome.reason !== 'Lost' || tries >= reportTries) {
			parts.kept.report = report;
			const before = state === undefined ? {} : {state};
			return {to: 'Fetching', facts: {outcome: verdict.outcome}, seen: {...before, ...verdict.seen}};
		}
		await pause(parts.clock, parts.signal, limits.slurmPauseMs * tries);
	}
}

const reportTries = 4;

async function reportOf(parts: StepParts, job: SlurmJob): Promise<Report> {
	const ended = await ran(parts, reportScript(job, job.status?.jobId));
	const none: Report = {endings: new Map(), exitCodes: new Map(), files: [], compileLog: undefined, owner: undefined, isUnderWay: false};
	if (saidOf(ended.out, 'gone') !== undefined) return none;
	const report = readReport(ended.out);
	if (report === undefined) throw unknown('the end of the job could not be read', ended);
	return report;
}

/** Fetches what there is, and ends. */
async function finish(parts: StepParts, job: SlurmJob): Promise<Told> {
	const report = parts.kept.report ?? (await reportOf(parts, job));
	const {artifacts, leftOut} = await fetchResults(parts, job, report);
	const outcome = job.status?.outcome ?? {phase: 'Failed' as const, reason: 'Unknown', message: 'nothing says how it ended'};
	const message = leftOut.length === 0 ? outcome.message : `${outcome.message}; not fetched: ${leftOut.join(', ')}`;
	return {
		to: outcome.phase,
		facts: {
			outcome: {...outcome, message},
			...(artifacts.length === 0 ? {} : {artifacts, expiresAt: timestampOf(parts.clock.nowMs() + limits.slurmResultKeepMs)}),
		},
	};
}

/** Ends a job in Slurm and removes its folder. Rejects with `Held` while it is not over. */
export async function remove(parts: StepParts, job: SlurmJob): Promise<void> {
	const ended = await ran(parts, removeScript(job, 20));
	if (saidOf(ended.out, 'removed') !== undefined || saidOf(ended.out, 'gone') !== undefined) return;
	if (saidOf(ended.out, 'lingers') !== undefined) throw new Held('Cancelling', 'Slurm has not ended the job yet');
	throw unknown('the job could not be removed', ended);
}
