// The `troupe` command, as a process: its terminal, its environment, its signals and its exit code.

import {homedir} from 'node:os';
import {interruptedExitCode} from './command.js';
import {runCommandLine} from './command-line/command-line.js';
import {processTitle} from './files/process-title.js';
import {terminalOf} from './screen/terminal.js';

const terminal = terminalOf(process, process.env);

/** `troupe get pods | head`: the reader has enough. Anything else is told: the disk that takes the output is full, say. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
	if (error.code === 'EPIPE') process.exit(0);
	terminal.error(`the output cannot be written: ${error.message}`);
	process.exit(1);
}

process.stdout.on('error', endWithoutOutput);
process.stderr.on('error', endWithoutOutput);

const {exitCode, failed} = await runCommandLine(process.argv.slice(2), {
	terminal,
	environment: process.env,
	homeFolder: homedir(),
	onCommand(command) {
		if (command.ownSignals !== true) process.once('SIGINT', () => process.exit(interruptedExitCode));
	},
	onRead(command) {
		process.title = processTitle(command.name); // meow has set another: in `ps`, and for `down`, this is what the process is.
	},
});
process.exitCode = exitCode;
// Whatever is still open: what has failed must not linger, deaf to signals.
if (failed) process.exit();
