// What the operating system refused, in words a person can act on.

import {failed} from '../../api/errors.js';

/** ERR_RUNTIME, in these words. */
export const systemFailure = (error: unknown): ReturnType<typeof failed> => failed('ERR_RUNTIME', {message: explained(error)});

/** One clause, lower case, with the file it was about. */
export function explained(error: unknown): string {
	const {code, message, path, syscall} = error as NodeJS.ErrnoException;
	if (syscall === 'watch') return 'this host has no inotify watches left (fs.inotify.max_user_watches)';
	const reason = code === undefined ? undefined : reasons[code];
	if (reason === undefined) return message;
	return path === undefined ? reason : `"${path}": ${reason}`;
}

const reasons: Readonly<Record<string, string>> = {
	ENOSPC: 'no space is left on the disk',
	EDQUOT: 'the disk quota is used up',
	EROFS: 'the disk is read-only',
	EACCES: 'permission denied',
	EPERM: 'the system does not permit it',
	EIO: 'the disk failed',
	EMFILE: 'this process has too many files open',
	ENFILE: 'this host has too many files open',
	EAGAIN: 'this host cannot make another process now (limit of processes or memory)',
	ENOMEM: 'this host has no memory left',
	E2BIG: 'command and environment together are too long for this system',
	ENOENT: 'it does not exist',
	ENOTDIR: 'it is not a directory',
	ELOOP: 'too many symbolic links',
	ENAMETOOLONG: 'the name is too long',
};
