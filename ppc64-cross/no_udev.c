/* What hwloc asks of libudev, of which Debian has no static library: there is no device. */
struct udev;
struct udev_device;

struct udev *udev_new(void)
{
    return 0;
}

struct udev *udev_unref(struct udev *udev)
{
    return 0;
}

struct udev_device *udev_device_new_from_subsystem_sysname(struct udev *udev, const char *subsystem, const char *name)
{
    return 0;
}

struct udev_device *udev_device_unref(struct udev_device *device)
{
    return 0;
}

const char *udev_device_get_property_value(struct udev_device *device, const char *key)
{
    return 0;
}
