// Where no volume can be mounted on any host.

/** What starts a container has to be found where it is. */
const programs = /^\/(?:|usr|(?:usr\/)?(?:bin|sbin|lib|lib32|lib64|libx32))$/;
/** Only the kernel makes entries there. */
const kernels = /^\/(?:proc|sys)(?:\/|$)/;

/** Why nothing can be mounted at an absolute path without `.`, `..` and a slash at its end; undefined: it may be possible. */
export function unmountable(place: string): string | undefined {
	if (programs.test(place)) return 'programs that start containers are there';
	return kernels.test(place) ? 'it belongs to the kernel' : undefined;
}
