package cpu

import (
	"syscall"
	"time"
)

// Used returns the CPU time of this process, including that of the kernel.
func Used() time.Duration {
	var created, exited, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(self, &created, &exited, &kernel, &user)
	}
	if err != nil {
		return 0 // impossible for the process itself; the backstop would still apply
	}
	return ticks(kernel) + ticks(user)
}

// ticks converts units of 100 ns; Filetime.Nanoseconds would treat them as a date.
func ticks(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}
