// `troupe version`: of this command, and of the cluster it talks to.

import {type AppError, rowOf} from '../../api/errors.js';
import {asAppError, type Invocation} from '../command.js';
import {printedWhole} from '../objects/output.js';
import {withClient} from '../cluster/session.js';
import {programVersion} from '../files/version.js';

type Versions = {client: {version: string; node: string}; server?: {version: string}};

export async function run(invocation: Invocation): Promise<number> {
	const {flags, terminal} = invocation;
	const versions: Versions = {client: {version: programVersion, node: process.versions.node}};
	const problem = flags.on('client') ? undefined : await addServer(invocation, versions);
	if (!(await printedWhole(invocation, versions))) terminal.out(linesOf(versions));
	if (problem === undefined) return 0;
	terminal.error(problem.message);
	return rowOf(problem.code).exitCode;
}

/** The client's own version is worth showing even when no cluster answers. */
async function addServer(invocation: Invocation, versions: Versions): Promise<AppError | undefined> {
	try {
		const answer = await withClient(invocation, client => client.json({path: '/version'}));
		versions.server = {version: (answer as {readonly gitVersion?: string}).gitVersion ?? 'unknown'};
		return undefined;
	} catch (error) {
		return asAppError(error);
	}
}

const linesOf = ({client, server}: Versions): string =>
	`client: troupe ${client.version}, Node ${client.node}\n` + (server === undefined ? '' : `server: ${server.version}\n`);
