// What runs at a login node and in a job: shell scripts, made from typed fields. Pure.
//
// Users' text stands in them in two places only: their commands, in files of their own, and values of variables, quoted. All other fields are
// of characters that mean nothing to a shell. Each script goes to the input of `bash -l`, so that no command line has anything in it; it is one
// group, so that it is read to its end before its first command runs. What it says for the program begins with a word of its own, since a
// profile may talk, too.

import type {SlurmJob, SlurmJobSpec} from '../../api/kinds/slurmjob.js';
import {outputFileOf} from '../../api/kinds/slurmjob.js';
import {parseDuration} from '../../api/duration.js';
import {limits} from '../../api/limits.js';
import {memoryBytes} from '../../api/quantity.js';

/** What runs each script. */
export const shellCommand = 'bash -l -s';

/** Begins the lines that are for the program. */
export const mark = 'troupe:';

/** Below the home of the login: one a job, named by its uid. */
export const folderOf = ({metadata}: SlurmJob): string => `.troupe/${metadata.uid}`;

/** By it a job is found again whose number was lost: no other one ever has this name. */
export const slurmNameOf = ({metadata}: SlurmJob): string => `${metadata.name}.${metadata.uid}`;

/** A text as one word of a shell, whatever is in it. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Its end is the end of the script: what follows on the input is not read. */
const whole = (lines: readonly string[]): string => `{\nexport TZ=UTC LC_ALL=C\ncd || exit 70\n${lines.join('\n')}\nexit 0\n}\n`;

const inFolder = (job: SlurmJob): string => `cd ${quoted(folderOf(job))} || { echo ${mark}gone; exit 0; }`;

const locked = (seconds: number): readonly string[] => [`exec 9>lock || exit 70`, `flock -w ${seconds} 9 || { echo ${mark}busy; exit 0; }`];

/** Makes the folders of a job: its own, and those of its sources. */
export function prepareScript(job: SlurmJob, folders: readonly string[]): string {
	const folder = folderOf(job);
	return whole([
		'umask 077',
		`mkdir -p ${quoted(`${folder}/exit`)} ${quoted(`${folder}/work`)} || exit 71`,
		...folders.map(each => `mkdir -p ${quoted(`${folder}/work/${each}`)} || exit 71`),
		`command -v flock > /dev/null || exit 72`,
		`echo ${mark}ready`,
	]);
}

/** A file of commands: those of the user, as they are. */
function commandsFile(spec: SlurmJobSpec, commands: readonly string[]): string {
	return [
		'#!/bin/bash -l',
		...(spec.modules ?? []).map(module => `module load ${module} || exit 1`),
		...(spec.env ?? []).map(({name, value = ''}) => `export ${name}=${quoted(value)}`),
		'set -e',
		...commands,
		'',
	].join('\n');
}

/** Files beside the sources, by their names in the folder of the job. */
export function jobFiles(job: SlurmJob): Readonly<Record<string, string>> {
	const {spec} = job;
	if (spec === undefined) return {};
	const {compileCommands = [], runCommands} = spec;
	return {
		'batch.sh': batchFile(job, spec),
		'commands.sh': commandsFile(spec, runCommands),
		...(compileCommands.length === 0 ? {} : {'compile.sh': commandsFile(spec, compileCommands)}),
	};
}

/** What Slurm runs. Of two jobs with the same name, should there ever be two, only the first does anything. */
function batchFile(job: SlurmJob, spec: SlurmJobSpec): string {
	return [
		'#!/bin/bash',
		...optionsOf(job, spec).map(option => `#SBATCH ${option}`),
		'folder=${SLURM_SUBMIT_DIR%/work}',
		'id=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}',
		'me=$folder/owner.$SLURM_JOB_ID.$$',
		'echo "$id" > "$me" && ln "$me" "$folder/owner" 2> /dev/null',
		'rm -f "$me"',
		'[ "$(cat "$folder/owner")" = "$id" ] || exit 0',
		'end=$folder/exit/${SLURM_ARRAY_TASK_ID:-job}',
		'rm -f "$end"',
		'bash -l "$folder/commands.sh"',
		'code=$?',
		'echo "$code" > "$end.new" && mv "$end.new" "$end"',
		'exit "$code"',
		'',
	].join('\n');
}

function optionsOf(job: SlurmJob, spec: SlurmJobSpec): readonly string[] {
	const {errorFile, memory, timeLimit} = spec;
	const mebibytes = memory === undefined ? undefined : Math.ceil((memoryBytes(memory) ?? 0) / 1_048_576);
	const seconds = timeLimit === undefined ? undefined : Math.ceil((parseDuration(timeLimit) ?? 0) / 1_000);
	const option = (name: string, value: string | number | undefined): readonly string[] =>
		value === undefined ? [] : [`--${name}=${value}`];
	return [
		...option('job-name', slurmNameOf(job)),
		...option('comment', `troupe:${job.metadata.namespace ?? ''}/${job.metadata.name}`),
		...option('output', outputFileOf(spec)),
		...option('error', errorFile),
		// A job that is begun anew goes on in its files.
		'--open-mode=append',
		...option('partition', spec.partition),
		...option('account', spec.account),
		...option('qos', spec.qos),
		...option('nodes', spec.nodes),
		...option('ntasks', spec.nTasks),
		...option('ntasks-per-node', spec.nTasksPerNode),
		...option('cpus-per-task', spec.cpusPerTask),
		...(spec.gpuNums === undefined || spec.gpuNums === 0 ? [] : [`--gres=gpu:${spec.gpuNums}`]),
		...option('mem', mebibytes === undefined ? undefined : `${mebibytes}M`),
		...option('time', seconds === undefined ? undefined : clockText(seconds)),
		...option('array', spec.array),
	];
}

/** `D-HH:MM:SS`, the only form that has all of it. */
function clockText(seconds: number): string {
	const two = (count: number): string => String(count).padStart(2, '0');
	const [days, rest] = [Math.floor(seconds / 86_400), seconds % 86_400];
	return `${days}-${two(Math.floor(rest / 3_600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
}

/** Compiles once, however often it is asked for: `compiled CODE`, and the end of what was said in base64. It ends once the job is cancelled. */
export const compileScript = (job: SlurmJob): string =>
	whole([
		inFolder(job),
		...locked(10),
		'if [ ! -s compile.code ]; then',
		`  (cd work && exec timeout -k 5 ${limits.slurmCompileMs / 1_000} bash -l ../compile.sh) > compile.log 2>&1 < /dev/null 9>&- &`,
		'  compiling=$!',
		// Who cancels may be at another login node.
		'  (while sleep 1; do [ ! -e cancelled ] || kill $compiling; done) > /dev/null 2>&1 9>&- &',
		'  watching=$!',
		'  wait $compiling',
		'  echo $? > compile.new && mv compile.new compile.code',
		'  kill $watching',
		'fi',
		`echo "${mark}compiled $(cat compile.code)"`,
		`echo "${mark}said $(tail -c 2000 compile.log | base64 | tr -d '\\n')"`,
	]);

/** Submits once, however often it is asked for: `job ID`; `unanswered` or `refused`, a code and what was said in base64. */
export const submitScript = (job: SlurmJob): string =>
	whole([
		inFolder(job),
		...locked(30),
		`[ ! -e cancelled ] || { echo ${mark}cancelled; exit 0; }`,
		'if [ ! -s id ]; then',
		'  said=$(mktemp) || exit 70',
		'  found=$(squeue -h -a -t all -u "$(id -un)" -n ' +
			quoted(slurmNameOf(job)) +
			' -o %F 2> "$said") || { ' +
			refusal('unanswered', '$?') +
			' }',
		'  [ -n "$found" ] || found=$(cat owner 2> /dev/null)',
		'  [ -n "$found" ] || found=$(sacct -n -X -P -S ' +
			quoted(job.metadata.creationTimestamp.slice(0, 10)) +
			' --name=' +
			quoted(slurmNameOf(job)) +
			' -o JobID 2> /dev/null)',
		'  if [ -z "$found" ]; then',
		'    found=$(cd work && sbatch --parsable ../batch.sh 2> "$said" < /dev/null 9>&-) || { ' + refusal('refused', '$?') + ' }',
		'  fi',
		`  echo "$found" | head -n 1 | sed 's/[;_].*//' > id.new && mv id.new id`,
		'  rm -f "$said"',
		'fi',
		`echo "${mark}job $(cat id)"`,
	]);

const refusal = (word: string, code: string): string =>
	`echo "${mark}${word} ${code} $(head -c 2000 "$said" | base64 | tr -d '\\n')"; rm -f "$said"; exit 0;`;

/** How Slurm has these jobs: `q ID|STATE|START|NODES|REASON` for each, and `p ID|POSITION` for those that wait. */
export function lookScript(ids: readonly string[], waiting: readonly string[]): string {
	const said = `said=$(mktemp) || exit 70`;
	return whole([
		said,
		`squeue -h -r -a -t all -j ${ids.join(',')} -o '${mark}q %i|%T|%S|%N|%r' 2> "$said"`,
		`code=$?`,
		`if [ $code != 0 ] && ! grep -q 'Invalid job id' "$said"; then ${refusal('unanswered', '$code')} fi`,
		'rm -f "$said"',
		...(waiting.length === 0
			? []
			: [
					`squeue -h -a -t PENDING -S '-p,i' -o '%P %F' | awk -v ids=' ${waiting.join(' ')} ' ` +
						`'{n[$1]++; if (index(ids, " " $2 " ") && !($2 in seen)) {seen[$2] = 1; print "${mark}p " $2 "|" n[$1]}}'`,
				]),
		`echo ${mark}looked`,
	]);
}

/** All that is known of a job that is over: lines of scontrol and sacct, exit codes, and the files that are there. */
export function reportScript(job: SlurmJob, id: string | undefined): string {
	const {spec} = job;
	const patterns = [outputFileOf(spec ?? {runCommands: []}), spec?.errorFile ?? [], spec?.resultFiles ?? []].flat();
	return whole([
		inFolder(job),
		...(id === undefined
			? []
			: [
					// Of arrays all indexes are told, however many.
					'export SLURM_BITSTR_LEN=0',
					`scontrol -o show job ${id} 2> /dev/null | sed 's/^/${mark}s /'`,
					`sacct -n -P -X -j ${id} -o JobID,State,ExitCode,Start,End,NodeList 2> /dev/null | sed 's/^/${mark}a /'`,
				]),
		`for each in exit/*; do [ -f "$each" ] && echo "${mark}x \${each#exit/}|$(cat "$each")"; done`,
		`[ -s owner ] && echo "${mark}o $(cat owner)"`,
		`[ -f compile.log ] && stat -L -c '${mark}c %s' compile.log`,
		'cd work || exit 70',
		'shopt -s nullglob',
		'count=0',
		`for each in ${patterns.map(pattern => pattern.replaceAll('%a', '*')).join(' ')}; do`,
		'  [ -f "$each" ] || continue',
		`  stat -L -c '${mark}f %s %n' -- "$each"`,
		// Far more than are fetched; all of very many would be cut off, and nothing be known of the end.
		`  [ $((count += 1)) -lt ${limits.slurmFoundFiles} ] || break`,
		'done',
		`echo ${mark}reported`,
	]);
}

/** Ends a job, whether or not its number is known, and removes its folder: `removed`, or `lingers` while Slurm still has it. */
export const removeScript = (job: SlurmJob, waitSeconds: number): string =>
	whole([
		inFolder(job),
		': > cancelled',
		...locked(20),
		`name=${quoted(slurmNameOf(job))}`,
		'id=$(cat id 2> /dev/null || cat owner 2> /dev/null)',
		'scancel -u "$(id -un)" -n "$name" 2> /dev/null',
		'[ -z "$id" ] || scancel "$id" 2> /dev/null',
		`for i in $(seq ${waitSeconds * 2}); do`,
		`  left=$(squeue -h -a -u "$(id -un)" -n "$name" -o %i 2> /dev/null) || { echo ${mark}lingers; exit 0; }`,
		'  [ -n "$left" ] || break',
		'  sleep 0.5',
		'done',
		`[ -z "$left" ] || { echo ${mark}lingers; exit 0; }`,
		`cd && rm -rf ${quoted(folderOf(job))} && echo ${mark}removed`,
	]);
