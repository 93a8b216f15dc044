// Tasks of functions with the runner of Python. Needs python3.

import test from 'ava';
import {runnerCommands} from '../../../agent/functions/start-runner.js';
import {startRunner} from '../../agent/functions/_runner.js';
import {runnerTasks} from '../../server/workflows/runner-tasks.js';

const code = `
import asyncio, os, signal

class CardDeclined(Exception):
    pass

async def main(params, request):
    how = None if params is None else params["how"]
    if how == "declined": raise CardDeclined("no money")
    if how == "usual": return params + 1
    if how == "text": return request.answer("grüße")
    if how == "nothing": return request.answer(None, 204)
    if how == "told": return {"key": request.headers["x-troupe-task-key"], "id": request.id}
    if how == "dies": os.kill(os.getpid(), signal.SIGKILL)
    if how == "waits":
        print("begun", flush=True)
        await asyncio.sleep(600)
    return params
`;

runnerTasks(test, {name: 'python', start: (t, limits) => startRunner(t, runnerCommands.python, {'func.py': code}, limits)});
