// What ends a command that has begun programs: it ends these first.

import {interruptedExitCode} from '../command.js';

/** The exit code of each such signal, as a shell tells it. */
export const endings = {SIGINT: interruptedExitCode, SIGTERM: 143, SIGHUP: 129};
