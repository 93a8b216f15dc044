// `node _gpu-up.js HOME FOLDER [PROGRAM]`: troupe up on a host whose GPUs are the device files in a folder; the program stands for nvidia-smi.

import {processTitle} from '../../cli/files/process-title.js';
import {runUp} from '../../cli/serving/up.js';
import {upOptions} from './_up-options.js';

const [, , home = '', folder = '', program] = process.argv;

process.title = processTitle('up');
process.exitCode = await runUp(upOptions(home, {folder, program}));
