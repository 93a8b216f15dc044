// `infra`: the program of a pod's infra container. It does nothing, for ever, so that the pod's namespaces stay while its containers come and go.
//
// It ignores SIGCHLD, so the kernel itself reaps what it adopts as process 1 of a pod with `shareProcessNamespace`, and it blocks every signal:
// nothing but SIGKILL ends it.
//
// Source: rt_sigaction(2), rt_sigprocmask(2), wait(2) on children of a parent that ignores SIGCHLD; the kernel's numbers of system calls.

import {bytesOf, elf, type Architecture} from './elf.js';

const code: Readonly<Record<Architecture, Buffer>> = {
	x86_64: bytesOf(`
		48 8d 35 2d 00 00 00    ; 00 lea rsi, [action]
		bf 11 00 00 00          ; 07 mov edi, 17          SIGCHLD
		31 d2                   ; 0c xor edx, edx         what was before is not asked for
		41 ba 08 00 00 00       ; 0e mov r10d, 8          bytes of a set of signals
		b8 0d 00 00 00          ; 14 mov eax, 13          rt_sigaction
		0f 05                   ; 19 syscall
		48 8d 35 32 00 00 00    ; 1b lea rsi, [all]
		31 ff                   ; 22 xor edi, edi         SIG_BLOCK; rdx and r10 are as above
		b8 0e 00 00 00          ; 24 mov eax, 14          rt_sigprocmask
		0f 05                   ; 29 syscall
		b8 22 00 00 00          ; 2b mov eax, 34          pause
		0f 05                   ; 30 syscall
		eb f7                   ; 32 jmp 2b
		01 00 00 00 00 00 00 00 ; 34 action: SIG_IGN,
		00 00 00 00 00 00 00 00 ; 3c no flags,
		00 00 00 00 00 00 00 00 ; 44 no restorer,
		00 00 00 00 00 00 00 00 ; 4c no mask
		ff ff ff ff ff ff ff ff ; 54 all
	`),
	aarch64: bytesOf(`
		20 02 80 d2             ; 00 mov x0, #17          SIGCHLD
		61 02 00 10             ; 04 adr x1, action
		02 00 80 d2             ; 08 mov x2, #0           what was before is not asked for
		03 01 80 d2             ; 0c mov x3, #8           bytes of a set of signals
		c8 10 80 d2             ; 10 mov x8, #134         rt_sigaction
		01 00 00 d4             ; 14 svc #0
		00 00 80 d2             ; 18 mov x0, #0           SIG_BLOCK
		a1 02 00 10             ; 1c adr x1, all
		02 00 80 d2             ; 20 mov x2, #0
		03 01 80 d2             ; 24 mov x3, #8
		e8 10 80 d2             ; 28 mov x8, #135         rt_sigprocmask
		01 00 00 d4             ; 2c svc #0
		00 00 80 d2             ; 30 mov x0, #0           no descriptors,
		01 00 80 d2             ; 34 mov x1, #0           none of them,
		02 00 80 d2             ; 38 mov x2, #0           no end of the wait,
		03 00 80 d2             ; 3c mov x3, #0           no other mask
		28 09 80 d2             ; 40 mov x8, #73          ppoll: this processor has no pause
		01 00 00 d4             ; 44 svc #0
		fa ff ff 17             ; 48 b 30
		1f 20 03 d5             ; 4c nop
		01 00 00 00 00 00 00 00 ; 50 action: SIG_IGN,
		00 00 00 00 00 00 00 00 ; 58 no flags,
		00 00 00 00 00 00 00 00 ; 60 no restorer,
		00 00 00 00 00 00 00 00 ; 68 no mask
		ff ff ff ff ff ff ff ff ; 70 all
	`),
};

/** The program as a file. */
export const infraProgram = (architecture: Architecture): Buffer => elf(architecture, code[architecture]);
