//! The driver: loading it, what it remembers, and the way into a device.

#![allow(unsafe_code)] // fills the symbol table

use crate::context::{Context, with_primary_context};
use crate::device::Device;
use crate::error::{DriverError, Error, Result, TeardownError, Version};
use crate::ffi::{self, CUresult, Symbols};
use crate::internal::api::{Address, Api, Origin};
use crate::internal::calls;
use crate::internal::inside;
#[cfg(feature = "sim")]
use crate::sim::{Machine, Simulation};
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A loaded CUDA driver. A copyable reference to something that lives as long as the process.
///
/// ```
/// use scoped_cuda::{Driver, sim::Simulation};
///
/// let driver = Driver::load().or_else(|_| Driver::simulated(Simulation::default()))?;
/// println!("CUDA {}, {} devices", driver.version(), driver.device_count()?);
/// # Ok::<(), scoped_cuda::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Driver {
    api: Api,
}

static LOADED: OnceLock<Driver> = OnceLock::new();
static LOADING: Mutex<()> = Mutex::new(());

impl Driver {
    /// Loads the system's driver: `libcuda.so.1` or `nvcuda.dll`, once per process, never unloaded.
    /// Many threads may do so at once.
    ///
    /// A machine with a driver and without a device loads; [`Error::NoDevice`] comes when a device
    /// is asked for. There is no fall-back to the simulated driver.
    ///
    /// Driver calls: `cuGetProcAddress_v2` for each entry point, `cuInit`, `cuDriverGetVersion`.
    ///
    /// # Errors
    /// [`Error::NoDriver`] with the names tried, [`Error::DriverTooOld`] before CUDA 12.0,
    /// [`Error::SymbolMissing`], or what `cuInit` returned. The next call tries again after
    /// a failed load.
    ///
    /// ```
    /// use scoped_cuda::{Driver, Error};
    ///
    /// match Driver::load() {
    ///     Ok(driver) => println!("CUDA {}", driver.version()),
    ///     Err(Error::NoDriver { tried }) => println!("no driver: {tried:?}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// ```
    pub fn load() -> Result<Self> {
        let _loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&driver) = LOADED.get() {
            return Ok(driver);
        }
        // SAFETY: these are the names under which a CUDA driver is installed.
        let driver = unsafe { Self::load_from(ffi::DRIVER_NAMES) }?;
        Ok(*LOADED.get_or_init(|| driver))
    }

    /// Loads a driver library from one of `names`, the first that opens; otherwise like
    /// [`load`](Self::load).
    ///
    /// # Errors
    /// As [`load`](Self::load).
    ///
    /// # Safety
    /// A library found under one of the names is a CUDA driver.
    pub unsafe fn load_from(names: &[&str]) -> Result<Self> {
        // SAFETY: the caller promises: a library found under one of the names is a CUDA driver.
        let address =
            unsafe { ffi::open(names) }.map_err(|error| Error::not_loaded(error, Version(0)))?;
        // SAFETY: the driver returns functions of the versions asked for; it is never unloaded.
        unsafe { Self::from_symbols(move |name, version| address.get(name, version)) }
    }

    /// A driver made of entry points from anywhere: an interposer, a recorder, a stub.
    ///
    /// `address` is asked for each of [`ffi::SYMBOLS`](crate::ffi::SYMBOLS) with name and version,
    /// now, and by [`symbol`](Self::symbol) later; null means missing.
    ///
    /// # Errors
    /// As [`load`](Self::load), apart from `NoDriver`.
    ///
    /// # Safety
    /// Each address is null, or the address of a function with the signature that `cuda.h` gives
    /// the symbol in that version, which behaves as the CUDA driver's does and stays callable for
    /// the rest of the process.
    pub unsafe fn from_symbols(
        address: impl Fn(&str, c_int) -> *const c_void + Send + Sync + 'static,
    ) -> Result<Self> {
        // SAFETY: what `from_symbols` asks of its caller.
        unsafe { Self::start(Box::new(address), Origin::default()) }
    }

    /// A simulated driver: a machine of its own, with its own devices, memory and faults. See
    /// [`sim`](crate::sim).
    ///
    /// # Errors
    /// [`Error::DriverTooOld`] or [`Error::SymbolMissing`] when the simulation is told to be such a
    /// driver.
    ///
    /// ```
    /// use scoped_cuda::{Driver, sim::Simulation};
    ///
    /// let driver = Driver::simulated(Simulation::default().devices(3))?;
    /// assert_eq!(driver.device_count()?, 3);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    #[cfg(feature = "sim")]
    pub fn simulated(simulation: Simulation) -> Result<Self> {
        let machine = Machine::start(simulation);
        let origin = Origin {
            first_ordinal: machine.first_ordinal(),
            machine: Some(machine.clone()),
        };
        // SAFETY: the simulated entry points have the signatures of cuda.h and are part of this
        // program.
        unsafe {
            Self::start(
                Box::new(move |name, version| machine.address(name, version)),
                origin,
            )
        }
    }

    /// # Safety
    /// As [`from_symbols`](Self::from_symbols).
    unsafe fn start(address: Address, origin: Origin) -> Result<Self> {
        inside::not_inside()?;
        #[cfg(feature = "sim")]
        if let Some(machine) = &origin.machine {
            machine.select();
        }
        // SAFETY: the caller promises what `from_symbols` asks for.
        let version = unsafe { calls::driver_version(address("cuDriverGetVersion", 2020)) };
        if version < ffi::MINIMUM_VERSION {
            return Err(Error::DriverTooOld {
                needs: ffi::MINIMUM_VERSION,
                found: version,
            });
        }
        // SAFETY: the caller promises what `from_symbols` asks for.
        let symbols = unsafe { Symbols::resolve(|symbol| address(symbol.name, symbol.version)) };
        let symbols = symbols.map_err(|error| Error::not_loaded(error, version))?;
        let api = Api::new(symbols, version, address, origin);
        match calls::init(api) {
            Err(Error::Driver(error)) if error.code() == CUresult::NO_DEVICE => {
                api.set_without_devices();
                Ok(Self { api })
            }
            other => other.map(|()| Self { api }),
        }
    }

    /// The CUDA version that the driver supports (`cuDriverGetVersion`).
    #[must_use]
    #[doc(alias = "cuDriverGetVersion")]
    pub fn version(self) -> Version {
        self.api.version()
    }

    /// How many devices there are; 0 is not an error (`cuDeviceGetCount`).
    ///
    /// # Errors
    /// What the driver returns.
    #[doc(alias = "cuDeviceGetCount")]
    pub fn device_count(self) -> Result<u32> {
        inside::not_inside()?;
        if self.api.is_without_devices() {
            return Ok(0);
        }
        #[cfg(feature = "sim")]
        if let Some(machine) = &self.api.origin().machine {
            machine.select();
        }
        calls::device_count(self.api).map(|count| u32::try_from(count).unwrap_or(0))
    }

    /// Device number `ordinal`, from 0 (`cuDeviceGet`).
    ///
    /// # Errors
    /// [`Error::NoDevice`] on a machine without any, [`Error::BadOrdinal`] past the last.
    #[doc(alias = "cuDeviceGet")]
    pub fn device(self, ordinal: u32) -> Result<Device> {
        let count = self.device_count()?;
        if count == 0 {
            return Err(Error::NoDevice);
        }
        let driver_ordinal = i32::try_from(ordinal).ok().filter(|_| ordinal < count);
        let Some(driver_ordinal) = driver_ordinal else {
            return Err(Error::BadOrdinal {
                asked: ordinal,
                count,
            });
        };
        let raw = calls::device_get(self.api, self.api.origin().first_ordinal + driver_ordinal)?;
        Ok(Device::new(self.api, ordinal, raw))
    }

    /// All devices in order.
    ///
    /// # Errors
    /// What the driver returns.
    pub fn devices(self) -> Result<Vec<Device>> {
        (0..self.device_count()?)
            .map(|ordinal| self.device(ordinal))
            .collect()
    }

    /// Runs `f` with a context of device `ordinal`: the way into everything else.
    ///
    /// The device's primary context is retained and made current; `f` gets it as a [`Context`]
    /// whose lifetime no other call has. Afterwards, on `Ok`, `Err` and panic, the thread's context
    /// stack is what it was and the context is released. Scopes nest.
    ///
    /// While the device has an [owner](Self::retain), `f` gets that context, with the owner's pool
    /// and its [limit](Context::limit_memory), and nothing is made or released. An owner is also
    /// what makes it fast: `with_device` takes tens of microseconds without one.
    ///
    /// Driver calls: `cuDevicePrimaryCtxRetain`, `cuCtxPushCurrent`, `cuMemPoolCreate`,
    /// `cuStreamCreate`, and their counterparts.
    ///
    /// # Errors
    /// The errors of [`device`](Self::device), of the driver calls, and of `f`.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let back = driver.with_device(0, |ctx| ctx.upload(&[1.0f32, 2.0])?.to_vec())?;
    /// assert_eq!(back, [1.0, 2.0]);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn with_device<R>(
        self,
        ordinal: u32,
        f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R>,
    ) -> Result<R> {
        with_primary_context(self.device(ordinal)?, f)
    }

    /// [`with_device`](Self::with_device) for a caller with an error type of its own.
    ///
    /// # Errors
    /// As there, through `E::from`.
    ///
    /// ```
    /// # use scoped_cuda::{Driver, sim::Simulation};
    /// # let driver = Driver::simulated(Simulation::default())?;
    /// let parsed = driver.try_with_device(0, |ctx| -> Result<i32, Box<dyn std::error::Error>> {
    ///     let buffer = ctx.upload(&["7".parse::<i32>()?])?;
    ///     Ok(buffer.to_vec()?[0])
    /// });
    /// assert_eq!(parsed.unwrap(), 7);
    /// # Ok::<(), scoped_cuda::Error>(())
    /// ```
    pub fn try_with_device<R, E: From<Error>>(
        self,
        ordinal: u32,
        f: impl for<'ctx> FnOnce(Context<'ctx>) -> Result<R, E>,
    ) -> Result<R, E> {
        with_primary_context(self.device(ordinal)?, f)
    }

    /// The driver calls of this driver as function pointers, for code that must leave this crate's
    /// guarantees.
    #[must_use]
    pub fn symbols(self) -> &'static Symbols {
        self.api.symbols()
    }

    /// The address of any entry point of the driver by name and CUDA version
    /// (`cuGetProcAddress_v2`); null when it has none.
    #[must_use]
    #[doc(alias = "cuGetProcAddress_v2")]
    pub fn symbol(self, name: &str, version: c_int) -> *const c_void {
        self.api.symbol(name, version)
    }

    /// The simulated machine behind this driver, when it is one.
    #[cfg(feature = "sim")]
    #[must_use]
    pub fn machine(self) -> Option<&'static Machine> {
        self.api.origin().machine.as_ref()
    }

    /// Whether this driver is a simulated one.
    #[must_use]
    pub fn is_simulated(self) -> bool {
        self.api.origin().is_simulated()
    }

    /// The fault that made the driver unusable in this process, if there was one (claim C10).
    #[must_use]
    pub fn first_fault(self) -> Option<DriverError> {
        self.api.fault()
    }

    /// Takes the errors that destructors met since the last call, the first 64 of them. A `drop`
    /// reports nothing to its surroundings; `close` does.
    #[must_use]
    pub fn take_teardown_errors(self) -> Vec<TeardownError> {
        self.api.take_teardown_errors()
    }
}

impl Device {
    /// The driver that has this device.
    #[must_use]
    pub fn driver(self) -> Driver {
        Driver { api: self.api() }
    }
}

impl Context<'_> {
    /// The driver of this context.
    #[must_use]
    pub fn driver(self) -> Driver {
        Driver { api: self.api() }
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver")
            .field("version", &self.version())
            .field("simulated", &self.is_simulated())
            .finish()
    }
}

static_assertions::assert_impl_all!(Driver: Copy, Send, Sync, std::panic::UnwindSafe, std::panic::RefUnwindSafe);
